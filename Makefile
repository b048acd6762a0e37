# On a machine with Python 3.11 and nothing else: make demo, make test. For those who work on it: make fuzz, make mutants, make papers.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
MINUTES ?= 10

.PHONY: demo test lint types fuzz mutants papers clean

demo: $(VENV)/installed
	$(BIN)/incrowd demo

test: $(VENV)/installed-test lint types
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test
	$(BIN)/mypy

fuzz: $(VENV)/installed-test
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --workers $(WORKERS)
	INCROWD_HYPOTHESIS=fuzz $(BIN)/python -m pytest -q tests/faults

mutants: $(VENV)/installed-test
	$(BIN)/python -m tests.mutants

papers: $(VENV)/installed-test
	$(BIN)/python -m papers --all --docs docs

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	@touch $@

clean:
	rm -rf $(VENV) demo dist build
