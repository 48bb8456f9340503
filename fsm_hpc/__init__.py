"""Short Boolean formulas that classify a table, proved optimal for their length."""

__version__ = "0.1.0"
