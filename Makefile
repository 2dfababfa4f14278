# Every target makes the environment it needs from Python and the package registries alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KB := .demo/kb

.PHONY: setup demo test check bench browser evaluate clean

setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

demo: setup
	BIN=$(BIN) KB=$(KB) sh bench/demo.sh

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff check src tests bench training
	$(BIN)/ruff format --check src tests bench training
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py

# Chromium, for the tests that look at reports as a reader does; they are skipped without it, except under CI=true.
browser:
	command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; }

evaluate: setup
	.ci/evaluate

# STEPS=table prints what docs/benchmarks.md has of retrieval; STEPS=-h lists the steps. All of them without it.
bench: setup
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench $(STEPS)

clean:
	rm -rf $(VENV) .demo .evaluation
