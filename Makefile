# Two commands on a machine with Python 3.11 and nothing else: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test lint types clean

demo: $(VENV)/installed
	$(BIN)/incrowd demo

test: $(VENV)/installed-test lint types
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test
	$(BIN)/mypy

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	@touch $@

clean:
	rm -rf $(VENV) demo dist build
