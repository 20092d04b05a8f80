# make help lists the targets. Everything is installed into .venv; nothing else is touched.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# The environment is filled from outside, so that a Python without ensurepip will do.
PIP_INSTALL = $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check install --quiet
CONSTRAINTS ?= constraints.txt
SOURCES = src tests benchmarks examples docs

.DEFAULT_GOAL := help
.PHONY: help demo test lint types tests test-oldest test-newest format docs dist benchmark rates paper race wild networks worth adjusting stress clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/installed ## install, decide on a bundled table, print the verdict and write a report
	$(BIN)/squamish demo --out demo --jobs -1

test: lint types tests ## install, then lint, types, tests, doctests

lint: $(VENV)/installed-dev ## check style, formatting and layers
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/lint-imports --no-logo

types: $(VENV)/installed-dev ## check the types
	$(BIN)/mypy

tests: $(VENV)/installed-dev ## run the tests and the examples in the documentation
	@sh tools/ensure-chromium
	$(BIN)/pytest -n auto --cov --durations 10

test-oldest: ## run the tests with the oldest versions that pyproject.toml allows
	$(MAKE) tests VENV=.venv-oldest CONSTRAINTS=constraints-oldest.txt

test-newest: ## run everything with the newest versions there are
	$(MAKE) test VENV=.venv-newest CONSTRAINTS=/dev/null

# RUN=0 leaves the examples of the gallery alone: they are among the tests.
docs: $(VENV)/installed-dev ## build the site, with its gallery, in site/ (warnings are errors)
	$(BIN)/sphinx-build -W --keep-going --quiet -c docs $(if $(RUN),-D plot_gallery=$(RUN)) . site
	@echo "the site is site/index.html"

dist: $(VENV)/installed-dev ## build the wheel and the source distribution in dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation

format: $(VENV)/installed-dev ## format the code
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

benchmark: $(VENV)/installed-dev ## rate the methods on problems with known truth (hours)
	$(BIN)/python benchmarks/accuracy.py --methods crossfit --seeds 20
	$(BIN)/python benchmarks/accuracy.py --methods paper --problems presets --seeds 10
	$(BIN)/python benchmarks/accuracy.py --methods paper --problems families --seeds 3
	$(BIN)/python benchmarks/false_positives.py --runs 100 --mixed-runs 40
	$(BIN)/python benchmarks/stability.py
	$(BIN)/python benchmarks/sensitivity.py
	$(BIN)/python benchmarks/scale.py

# QUICK=1 judges a few tables only, in minutes, and leaves the committed results alone.
rates: $(VENV)/installed-dev ## measure error rates and power where there are signals (hours; QUICK=1: minutes)
	$(BIN)/python benchmarks/error_rates.py $(if $(QUICK),--tables 2 --designs copies faint --out quick)

paper: $(VENV)/installed-dev ## repeat the evaluation of the paper (hours; QUICK=1: minutes)
	$(BIN)/python benchmarks/paper.py $(if $(QUICK),--quick --out quick)

race: $(VENV)/installed-dev ## race other selectors, each in its own environment (hours; QUICK=1: minutes)
	$(BIN)/python benchmarks/race.py $(if $(QUICK),--quick --out quick)

wild: $(VENV)/installed-dev ## judge real tables, also with shuffled targets (hours; QUICK=1: minutes)
	$(BIN)/python benchmarks/wild.py $(if $(QUICK),--limit 12 --out quick,--worst 12 --orders 100)

# SECONDS_LONG=3600 attacks for an hour; it goes on where it was stopped.
stress: $(VENV)/installed-dev ## attack the program: kills, flipped bits, odd tables, hostile names, lost clusters
	$(BIN)/python benchmarks/stress.py --seconds $(or $(SECONDS_LONG),600)

networks: $(VENV)/installed-dev ## compare strong with blankets of Bayesian networks (an hour; QUICK=1: minutes)
	$(BIN)/python benchmarks/networks.py $(if $(QUICK),--rows 500 --limit 3 --out quick)

worth: $(VENV)/installed-dev ## find known columns, and predict with the selected ones (hours; QUICK=1: minutes)
	$(BIN)/python benchmarks/worth.py $(if $(QUICK),--quick --out quick)

adjusting: $(VENV)/installed-dev ## adjust for what confounds, beside the true model (an hour; QUICK=1: minutes)
	$(BIN)/python benchmarks/adjusting.py $(if $(QUICK),--quick --out quick)

clean: ## remove environments and caches
	rm -rf .venv .venv-* .cache .mypy_cache .ruff_cache .pytest_cache .coverage .hypothesis demo dist quick \
		site docs/gallery docs/reference/generated docs/reference/command_line.md

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "squamish needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv --without-pip $(VENV)

$(VENV)/installed: Makefile pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(PIP_INSTALL) --constraint $(CONSTRAINTS) --editable '.[all]'
	@sh tools/ensure-openmp $(BIN)/python
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP_INSTALL) --constraint $(CONSTRAINTS) --editable '.[dev]'
	@touch $@
