"""The supported measures: their definitions, parameters and names."""
