"""What a paper prints: tables in Markdown, LaTeX, HTML and CSV, and the claims in them."""
