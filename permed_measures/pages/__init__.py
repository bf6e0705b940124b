"""Pages for a browser: template, style, scripts and data in one file that loads nothing else."""
