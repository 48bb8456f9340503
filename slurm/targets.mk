# The one-machine SLURM; included by the Makefile.
.PHONY: cluster-install cluster-up cluster-down cluster-env

cluster-install: $(READY)  ## install SLURM's packages (apt, root)
	@$(PYTHON) -m slurm.trial install

cluster-up: $(READY)  ## start a SLURM of three nodes on this machine
	@$(PYTHON) -m slurm.trial up

cluster-down: $(READY)  ## stop it; nothing is left behind
	@$(PYTHON) -m slurm.trial down

cluster-env: $(READY)  ## eval "$(make -s cluster-env)" points a shell at it
	@$(PYTHON) -m slurm.trial env
