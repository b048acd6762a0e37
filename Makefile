# On a machine with Python 3.11 and nothing else: make demo, make test. make check runs everything there is: all examples,
# browsers, Spark, crashes, the wheel, mutants. make docs builds the site. For those who work on it: make fuzz, make papers.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 3  # one more than cores: tests often wait for a process or a browser
MINUTES ?= 10

TESTS := golden property unit conformance  # the folders of make test; make check has all
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: demo test check lint types docs wheel bounds fuzz mutants papers clean

demo: $(VENV)/installed
	$(BIN)/incrowd demo

test: $(VENV)/installed-test lint types
	$(PYTEST) $(TESTS:%=tests/%)

check: $(VENV)/installed-check lint types wheel bounds
	INCROWD_HYPOTHESIS=check $(PYTEST)
	$(BIN)/python -m tests.mutants --trust

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test
	$(BIN)/mypy

docs: $(VENV)/installed-docs
	$(BIN)/python -m docs.site --output build/site

wheel: $(VENV)/installed-test
	$(BIN)/python -m tests.wheel

bounds: $(VENV)/installed-test
	$(BIN)/python -m tests.bounds

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

$(VENV)/installed-check: $(VENV)/installed-test
	$(BIN)/python -m tests.chromium
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable ".[docs,eval]"
	@touch $@

clean:
	rm -rf $(VENV) demo dist build
