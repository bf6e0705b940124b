"""Plots of comparisons, for papers.

Every plot is drawn on the Axes it is given, or on a new Figure: one of pyplot's where the user has imported
that, so that a notebook shows it, otherwise one that nothing else knows. matplotlib is loaded when the first
plot is drawn.
"""
