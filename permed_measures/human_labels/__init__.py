"""Compare people's labels of a sample with a model's, and correct means and differences by them."""
