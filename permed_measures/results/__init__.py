"""Write results: one `Table`, one `Report`, and a function for each format.

No library writes all formats correctly: great_tables drops bold in LaTeX and has no Markdown, tabulate does
not escape ``|``, rich cuts headings at 80 columns and takes seconds for a row per query, and pandas cuts too.
"""
