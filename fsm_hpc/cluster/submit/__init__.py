"""Hand folds to SLURM or to this machine, again, or take them back."""
