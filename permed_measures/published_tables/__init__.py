"""Read the tables that papers print in Markdown, LaTeX, HTML and CSV, and the claims in them."""
