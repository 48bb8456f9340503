"""Look at folds: what their files and schedulers say, and what that amounts to."""
