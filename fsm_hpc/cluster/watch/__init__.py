"""Look at folds: what their files and SLURM say, and what that amounts to."""
