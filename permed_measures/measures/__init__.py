"""The measures one can ask for: definitions, parameters, and their names as text."""

# Measures that version 0.1.0 pickled name their class in this module.
from permed_measures.measures.definitions import _GAP, _Coverage, _GradedAP, _QMeasure, _VariantNDCG  # noqa: F401
