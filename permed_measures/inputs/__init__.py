"""Qrels and runs in files: reading, streaming, writing and inspecting them."""
