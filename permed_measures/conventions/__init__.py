"""How published numbers are computed: options of measures, and conventions that have a name."""
