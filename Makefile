# All targets use the environment .venv. The first one that needs it creates it.
SYSTEM_PYTHON ?= python3
VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
LOCK := requirements/ci.txt
# the pinned versions are for one Python version; others install the newest versions they support
VERSION = $(shell $(SYSTEM_PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
PINS = $(shell grep -qs "Python $(VERSION)$$" $(LOCK) && echo "--constraint $(LOCK)")

.DEFAULT_GOAL := help
.PHONY: help demo paper test test-full check audit docs faults lock system-packages wheel clean

help:  ## list all targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY)  ## run a study of ten folds and print its tables (one minute)
	$(PYTHON) -m fsm_hpc compile
	$(PYTHON) -m fsm_hpc +experiment=demo -m --wait cluster=local
	$(PYTHON) -m fsm_hpc collect study=demo --names

# all folds with a small time budget first, then unfinished ones with larger budgets
STUDY ?= paper
FIRST_BUDGET_H := 0.003
MORE_BUDGETS_H := 0.01 0.034
paper: $(READY)  ## run the study of the paper, or STUDY=paper_plateau|more; run again to continue
	$(PYTHON) -m scripts.reuse_progress $(STUDY)
	$(PYTHON) -m fsm_hpc +experiment=$(STUDY) -m --wait cluster=local scan.budget_h=$(FIRST_BUDGET_H)
	for hours in $(MORE_BUDGETS_H); do \
		$(PYTHON) -m fsm_hpc resume +experiment=$(STUDY) --wait cluster=local scan.budget_h=$$hours || exit; \
	done
	$(PYTHON) -m fsm_hpc collect +experiment=$(STUDY) --paper --compare --plots --names
	$(PYTHON) -m fsm_hpc report +experiment=$(STUDY) --paper --compare --names

test: $(READY) system-packages check docs  ## run check, docs and all tests except the slow ones
	$(PYTHON) -m scripts.run_tests

check: $(READY)  ## run ruff, mypy --strict and bandit
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/bandit --quiet --recursive --configfile pyproject.toml fsm_hpc

audit: $(READY)  ## list known vulnerabilities of the pinned packages (needs network access)
	-@$(PYTHON) -m pip install --quiet --disable-pip-version-check pip-audit
	@$(PYTHON) -m scripts.audit $(LOCK)

docs: $(READY)  ## build the documentation in site/; warnings are errors
	$(PYTHON) -m sphinx --fail-on-warning --quiet docs site

lock: $(READY)  ## write the installed versions to requirements/ci.txt
	@mkdir -p $(dir $(LOCK))
	@echo "# written by: make lock, with Python $(VERSION)" > $(LOCK)
	$(PYTHON) -m pip freeze --exclude-editable --disable-pip-version-check >> $(LOCK)
	@touch $(READY)

test-full: $(READY) system-packages check docs  ## run all tests with a new seed (hours); SEED=N continues a run
	$(PYTHON) -m scripts.run_full_tests $(if $(SEED),--seed $(SEED))

faults: $(READY)  ## run all fault-injection tests (an hour or two)
	$(PYTHON) -m tests.faults

system-packages: $(READY)  ## list missing programs for tests; SYSTEM_PACKAGES=1 installs them (apt, root)
	@$(PYTHON) -m scripts.system_packages $(if $(filter 1,$(SYSTEM_PACKAGES)),--install)

wheel: $(READY)  ## build dist/*.whl
	$(PYTHON) -m build --wheel

clean:  ## remove .venv and build output; keep results/
	rm -rf $(VENV) dist build site .pytest_cache .mypy_cache .ruff_cache

$(READY): pyproject.toml $(wildcard $(LOCK))
	$(SYSTEM_PYTHON) -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check $(PINS) --editable '.[test]'
	@touch $@

include slurm/targets.mk
