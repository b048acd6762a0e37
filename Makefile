# On a machine with Python 3.11 and nothing else: make demo, make test. make docs builds the site,
# make wheel the wheel, and tries it. For those who work on it: make fuzz, make mutants, make papers.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 3  # one more than cores: tests often wait for a process or a browser
MINUTES ?= 10

.PHONY: demo test lint types docs wheel fuzz mutants papers clean

demo: $(VENV)/installed
	$(BIN)/incrowd demo

test: $(VENV)/installed-test lint types
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test
	$(BIN)/mypy

docs: $(VENV)/installed-docs
	$(BIN)/python -m docs.site --output build/site

wheel: $(VENV)/installed-test
	$(BIN)/python -m tests.wheel

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
	$(BIN)/python -m tests.chromium
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable ".[docs,eval]"
	@touch $@

clean:
	rm -rf $(VENV) demo dist build
