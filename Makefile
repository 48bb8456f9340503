# Everything runs in .venv, which is made when it is first needed.
SYSTEM_PYTHON ?= python3
VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check system-packages wheel clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY)  ## ten folds of a shipped table, and its result tables (a minute)
	$(PYTHON) -m fsm_hpc +experiment=demo -m wait=true cluster=local
	$(PYTHON) -m fsm_hpc collect study=demo --names

test: $(READY) system-packages check  ## lint, types and all tests but the slow ones
	$(PYTHON) -m pytest -m "not slow"

check: $(READY)  ## ruff and mypy --strict
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

test-slow: $(READY)  ## everything that takes minutes, but for the cluster's
	$(PYTHON) -m pytest -m "slow and not slurm"

system-packages: $(READY)  ## SLURM, a browser and TeX for the tests, where apt can bring them
	@$(PYTHON) -m scripts.system_packages

wheel: $(READY)  ## dist/*.whl
	$(PYTHON) -m build --wheel

clean:  ## remove the environment and what was built; results/ stays
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache

$(READY): pyproject.toml
	$(SYSTEM_PYTHON) -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

include slurm/targets.mk
