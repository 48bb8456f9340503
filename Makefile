# Everything runs in .venv, which is made when it is first needed.
SYSTEM_PYTHON ?= python3
VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
LOCK := requirements/ci.txt
# the pins hold for the Python that they were written with; another one takes the newest that it can
VERSION = $(shell $(SYSTEM_PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
PINS = $(shell grep -qs "Python $(VERSION)$$" $(LOCK) && echo "--constraint $(LOCK)")

.DEFAULT_GOAL := help
.PHONY: help demo paper test test-full check audit docs faults lock system-packages wheel clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY)  ## ten folds of a shipped table, and its result tables (a minute)
	$(PYTHON) -m fsm_hpc compile
	$(PYTHON) -m fsm_hpc +experiment=demo -m --wait cluster=local
	$(PYTHON) -m fsm_hpc collect study=demo --names

# first every fold with a small budget, then what is left with larger ones; the same command goes on
STUDY ?= paper
FIRST_BUDGET_H := 0.003
MORE_BUDGETS_H := 0.01 0.034
paper: $(READY)  ## the paper's study on this machine, or STUDY=paper_plateau|more; stop and go on at any time
	$(PYTHON) -m scripts.take_over $(STUDY)
	$(PYTHON) -m fsm_hpc +experiment=$(STUDY) -m --wait cluster=local scan.budget_h=$(FIRST_BUDGET_H)
	for hours in $(MORE_BUDGETS_H); do \
		$(PYTHON) -m fsm_hpc resume +experiment=$(STUDY) --wait cluster=local scan.budget_h=$$hours || exit; \
	done
	$(PYTHON) -m fsm_hpc collect +experiment=$(STUDY) --paper --compare --plots --names
	$(PYTHON) -m fsm_hpc report +experiment=$(STUDY) --paper --compare --names

test: $(READY) system-packages check docs  ## lint, types and all tests but the slow ones
	$(PYTHON) -m scripts.run_tests

check: $(READY)  ## ruff, mypy --strict and bandit
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/bandit --quiet --recursive --configfile pyproject.toml fsm_hpc

audit: $(READY)  ## known holes in the pinned packages, where the network lets pip-audit ask
	-@$(PYTHON) -m pip install --quiet --disable-pip-version-check pip-audit
	@$(PYTHON) -m scripts.audit $(LOCK)

docs: $(READY)  ## site/: the pages of docs/ and an API reference; a warning is an error
	$(PYTHON) -m sphinx --fail-on-warning --quiet docs site

lock: $(READY)  ## requirements/ci.txt: the versions that are installed now
	@mkdir -p $(dir $(LOCK))
	@echo "# written by: make lock, with Python $(VERSION)" > $(LOCK)
	$(PYTHON) -m pip freeze --exclude-editable --disable-pip-version-check >> $(LOCK)
	@touch $(READY)

test-full: $(READY) system-packages check docs  ## all tests, the slow ones too, with a fresh seed; the oldest and newest Python; SEED=N goes on
	$(PYTHON) -m scripts.run_full_tests $(if $(SEED),--seed $(SEED))

faults: $(READY)  ## kills, damaged files, full disks, races, code in data, a SLURM that lies: an hour or two, and a table
	$(PYTHON) -m tests.faults

system-packages: $(READY)  ## name the programs that tests need and lack; SYSTEM_PACKAGES=1 installs them (apt, root)
	@$(PYTHON) -m scripts.system_packages $(if $(filter 1,$(SYSTEM_PACKAGES)),--install)

wheel: $(READY)  ## dist/*.whl
	$(PYTHON) -m build --wheel

clean:  ## remove the environment and what was built; results/ stays
	rm -rf $(VENV) dist build site .pytest_cache .mypy_cache .ruff_cache

$(READY): pyproject.toml $(wildcard $(LOCK))
	$(SYSTEM_PYTHON) -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check $(PINS) --editable '.[test]'
	@touch $@

include slurm/targets.mk
