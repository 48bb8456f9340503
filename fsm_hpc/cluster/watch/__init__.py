"""Read, classify, select and show folds."""
