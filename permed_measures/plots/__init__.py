"""Draw and save plots for papers.

Every plot draws on the given Axes, or on a new Figure of pyplot, which a notebook shows. A new Figure is as
wide as a column (3.3 inches) or a page (7 inches). The package changes no setting of matplotlib, and loads it
with the first plot.
"""
