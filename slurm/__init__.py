"""A trial SLURM on one machine, for tests and for practice."""
