"""Which convention a script computes: it is asked for the numbers of small collections."""
