"""Runs against a baseline or against each other, and before and after a reranking."""
