"""The measures one can ask for: definitions, parameters, and their names as text."""
