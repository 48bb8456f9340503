# Targets of the trial SLURM; included by the Makefile.
.PHONY: cluster-install cluster-up cluster-down cluster-env

cluster-install: $(READY)  ## install the packages of the trial SLURM (apt, root)
	@$(PYTHON) -m slurm.trial install

cluster-up: $(READY)  ## start a trial SLURM with three simulated nodes
	@$(PYTHON) -m slurm.trial up

cluster-down: $(READY)  ## stop the trial SLURM and remove its files
	@$(PYTHON) -m slurm.trial down

cluster-env: $(READY)  ## use the trial SLURM in a shell: eval "$(make -s cluster-env)"
	@$(PYTHON) -m slurm.trial env
