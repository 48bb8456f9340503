"""What people read: rows of folds, tables, figures, a page, an explanation."""
