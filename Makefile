# The only entry point for development. Every target installs what it needs; you need only python3 and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all test-oldest check format docs dist bench studies figure wheel-demo clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(READY)  ## create .venv with everything for development

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "coalface needs Python 3.11 or later: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(READY)  ## run the main job on bundled data: a table and an HTML report
	$(BIN)/coalface demo

test: $(READY)  ## run the test suite, including doctests (about 7 minutes on 2 cores)
	$(BIN)/python -m tests.precompile
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow"

test-all: $(READY)  ## run the slow tests: kills, browsers, clusters, fuzzing, baselines (about 6 minutes)
	$(BIN)/python -m pytest -n auto --dist loadfile -m slow

test-oldest:  ## run the tests of the library with the oldest dependencies that it allows
	$(PYTHON) -m venv build/oldest
	$(PYTHON) packaging/oldest.py > build/oldest/constraints.txt
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint build/oldest/constraints.txt \
	  --editable '.[app,embeddings,parquet,postgres,report,zstd]' hypothesis pandas pytest pytest-xdist \
	  vowpalwabbit==9.11.9
	build/oldest/bin/python -m pytest -n auto --dist loadfile -m "not slow" -W ignore::pytest.PytestRemovedIn10Warning \
	  -W ignore::pyparsing.warnings.PyparsingDeprecationWarning \
	  tests/data tests/files tests/learner tests/models tests/rounds

check: $(READY)  ## run ruff, mypy --strict and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## format the code and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)  ## build the documentation site into build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

dist: $(READY)  ## build and check the wheel and the source distribution in build/dist
	rm -rf build/dist
	$(BIN)/python -m build --outdir build/dist .
	$(BIN)/twine check --strict build/dist/*
	$(BIN)/check-wheel-contents build/dist/*.whl

bench: $(READY)  ## measure speed and memory against Vowpal Wabbit (COALFACE_DATA=... for real data)
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.sweep_scaling
	$(BIN)/python -m benchmarks.embeddings
	$(BIN)/python -m benchmarks.tagging
	$(BIN)/python -m benchmarks.streaming

studies: $(READY)  ## run every unfinished study into build/studies (COALFACE_DATA=... for real data)
	for study in studies/*.toml; do \
	  $(BIN)/coalface sweep $$study --allow-plugins --out build/studies/$$(basename $$study .toml) || exit; done

figure: $(READY)  ## redraw the figures of the README and the documentation
	$(BIN)/python docs/figure.py
	$(BIN)/python docs/figures/theory.py
	$(BIN)/python docs/figures/search.py
	$(BIN)/python docs/figures/which_model.py
	$(BIN)/python docs/figures/ranges.py

wheel-demo: $(READY)  ## build a wheel, run its demo in an empty environment, without and with the report
	rm -rf build/wheel-demo
	$(BIN)/python -m build --wheel --outdir build/wheel-demo .
	$(PYTHON) -m venv build/wheel-demo/venv
	build/wheel-demo/venv/bin/python -m pip install --quiet --disable-pip-version-check build/wheel-demo/*.whl
	cd build/wheel-demo && venv/bin/coalface demo --permutations 1
	build/wheel-demo/venv/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls build/wheel-demo/*.whl)[report]"
	cd build/wheel-demo && venv/bin/coalface demo --report report.html

clean:  ## remove all build outputs
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
