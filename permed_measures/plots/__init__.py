"""Plots for papers: what they are drawn with, and means.

Every plot is drawn on the Axes it is given, or on a new Figure of pyplot's, so that a notebook shows it, as
wide as a column (3.3 inches) or a page (7 inches). No setting of matplotlib is changed, and it is loaded when
the first plot is drawn.
"""
