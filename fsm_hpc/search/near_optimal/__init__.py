"""All the good formulas: every one within a few errors of the optimum, family by family."""
