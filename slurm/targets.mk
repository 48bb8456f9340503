# Targets of the trial SLURM; included by the Makefile.
.PHONY: cluster-install cluster-up cluster-down cluster-env

cluster-install:  ## install the packages of the trial SLURM (apt, root)
	@$(SYSTEM_PYTHON) -m slurm.trial install

cluster-up:  ## start a trial SLURM with three simulated nodes
	@$(SYSTEM_PYTHON) -m slurm.trial up

cluster-down:  ## stop the trial SLURM and remove its files
	@$(SYSTEM_PYTHON) -m slurm.trial down

cluster-env:  ## use the trial SLURM in a shell: eval "$(make -s cluster-env)"
	@$(SYSTEM_PYTHON) -m slurm.trial env
