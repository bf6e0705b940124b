"""Our values against pytrec_eval's, query by query."""
