# Each target creates what it needs: a virtual environment in .venv, pinned by constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
INSTALLED_WEB := $(VENV)/.installed-web
INSTALLED_DEV := $(VENV)/.installed-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: help demo web test quick net crash mutants proposals bench faults lint check release clean
.DEFAULT_GOAL := help

help:
	@echo "make demo       import a messy legacy export into a recruiting service on this machine, and show the result"
	@echo "make web        import the same export in the browser, into a recruiting service on this machine"
	@echo "make test       run the tests but those of the net (marked, or in tests/crash)"
	@echo "make quick      run the tests without the slow ones (samples, web) and those of docs"
	@echo "make net        what must hold whatever is rebuilt inside: golden imports, corpus, kills, truth, planted"
	@echo "make lint       run ruff and mypy"
	@echo "make check      run lint and tests"
	@echo "make crash      1,000 kills, kills at every point, generated scenarios, 2,000 power cuts (an hour)"
	@echo "make mutants    apply mutations to a copy of the code; the tests must catch each"
	@echo "make proposals  how often mapping new proposes the right column"
	@echo "make bench      time, CPU and memory, compared with other tools (about ten minutes; TURNS=5, LARGE=1)"
	@echo "make faults     check that every run finishes by itself (about 13 minutes; LARGE=1: half an hour)"
	@echo "make release    build and check the packages in dist/, list what they install, and show how to tag the version"
	@echo "make clean      remove the virtual environments and the results of the demo"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("importer needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another one, for example: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing into $(VENV) (once, about a minute) ..."
	@$(PIP) --editable .
	@$(BIN)/python -m compileall -q importer  # without compiled files each start takes a fifth of a second longer
	@touch $@

$(INSTALLED_WEB): $(INSTALLED)
	@$(PIP) --editable '.[web]'
	@touch $@

$(INSTALLED_DEV): $(INSTALLED)
	@echo "Installing what the tests need (once) ..."
	@$(PIP) --editable '.[dev]'
	@touch $@

# The demo must end with 4: some of its rows have problems.
demo: $(INSTALLED)
	@$(BIN)/importer run sample_data/legacy_ats_export.xlsx --mapping mappings/legacy_ats_export.yaml \
		--sandbox --faults sample_data/demo_faults.json --out results/demo || test $$? -eq 4

web: $(INSTALLED_WEB)
	@$(BIN)/importer web sample_data/legacy_ats_export.xlsx --sandbox --out results/demo

# Idle workers take tests from the others: a few tests take seconds, most take none. Kills are part of the net.
test: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not net' --ignore tests/crash --ignore tests/benchmarks

quick: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not net' --ignore tests/crash --ignore tests/samples --ignore tests/benchmarks \
		--ignore tests/web --ignore tests/docs

# What must hold whatever is rebuilt inside; CONTRIBUTING.md names each part.
net: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -n auto --dist worksteal tests/samples tests/cases tests/exports tests/sources/test_corpus.py \
		tests/sources/test_header.py tests/mapping tests/crash tests/benchmarks
	$(BIN)/python -m pytest -n auto --dist worksteal -m net --ignore tests/crash --ignore tests/mapping
	$(BIN)/python benchmarks/suggest.py
	$(BIN)/python -m benchmarks truth
	$(BIN)/python -m benchmarks planted

# About an hour on two cores. For a single part or another size: python -m tests.crash --help
crash: $(INSTALLED_DEV)
	$(BIN)/python -m tests.crash

mutants: $(INSTALLED_DEV)
	$(BIN)/python -m tests.crash.mutants

proposals: $(INSTALLED)
	$(BIN)/python benchmarks/suggest.py

# For a single part or another size: .venv/bin/python -m benchmarks --help. See docs/performance.md
TURNS ?= 1
bench: $(INSTALLED)
	$(BIN)/python -m benchmarks all --turns $(TURNS) $(if $(LARGE),--large)

faults: $(INSTALLED)
	$(BIN)/python -m benchmarks faults $(if $(LARGE),--large)

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: lint test

# The tools have an environment of their own; so has what the list of the packages is made from.
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' importer/__init__.py)
RELEASE := .venv-release/bin

release:
	@grep -q '^## $(VERSION)' CHANGELOG.md || { echo "CHANGELOG.md has no section '## $(VERSION)'"; exit 1; }
	$(PYTHON) -m venv .venv-release
	$(RELEASE)/pip --disable-pip-version-check install --quiet --constraint constraints.txt '.[release]'
	rm -rf dist build .venv-installed
	$(RELEASE)/python -m build --outdir dist .
	$(RELEASE)/twine check --strict dist/*.whl dist/*.tar.gz
	$(RELEASE)/check-wheel-contents dist/*.whl
	$(RELEASE)/pyroma --min 10 .
	$(PYTHON) -m venv --without-pip .venv-installed
	$(RELEASE)/pip --disable-pip-version-check --python .venv-installed install --quiet --constraint constraints.txt \
		"$$(ls dist/*.whl)[fast,postgres,web,notify]"
	$(RELEASE)/cyclonedx-py environment --output-reproducible -o dist/candidate_importer-$(VERSION).cdx.json .venv-installed
	@echo "dist/ is ready. Next: git tag -a v$(VERSION) -m 'candidate-importer $(VERSION)'"

clean:
	rm -rf $(VENV) .venv-* results/demo
