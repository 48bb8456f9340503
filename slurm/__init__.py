"""A SLURM on one machine, for tests and for trying a sweep before a real site sees it."""
