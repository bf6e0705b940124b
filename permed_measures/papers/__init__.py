"""Tables as papers print them, in Markdown, LaTeX, HTML and CSV: titles, rows and the numbers in cells."""
