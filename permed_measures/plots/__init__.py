"""Plots for papers: what they are drawn with, and means.

Every plot is drawn on the Axes it is given, or on a new Figure, as wide as a column (3.3 inches) or a page (7
inches): one of pyplot's where the user has imported that, so that a notebook shows it, otherwise one that
nothing else knows. matplotlib is loaded when the first plot is drawn.
"""
