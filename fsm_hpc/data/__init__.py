"""From a file to rows: find a table, read it, type its columns, split it into folds."""
