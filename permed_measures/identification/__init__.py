"""Find which convention a script computes, by calling it on small collections."""
