"""Check a site before jobs are spent on it."""
