"""Evaluations and comparisons as text: terminal, Markdown, LaTeX, HTML, CSV and JSON."""
