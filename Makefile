# The verbs people and CI share. `make serve` and `make test` set up all they need, once.
HOST ?= 127.0.0.1
PORT ?= 8000
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# DEMOS= (empty) leaves torch out: everything but the live demos works without it.
DEMOS ?= demos

.PHONY: serve test lint format bench screenshots clean

serve: $(VENV)/.served
	@$(BIN)/shardboard serve --host $(HOST) --port $(PORT)

test: $(VENV)/.tested
	@$(BIN)/python -m pytest

lint: $(VENV)/.tested
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

format: $(VENV)/.tested
	@$(BIN)/ruff check --fix-only --quiet . && $(BIN)/ruff format .

bench: $(VENV)/.tested
	@$(BIN)/python -m tests.bench

screenshots: $(VENV)/.tested
	@$(BIN)/python -m tests.screenshots

clean:
	rm -rf $(VENV) .cache screenshots

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Shardboard needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another: make serve PYTHON=python3.12")'
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.served: $(VENV)/.made pyproject.toml
	@echo "Installing what the server needs (about half a minute, once)"
	@$(PIP) --editable .
	@if [ -n "$(DEMOS)" ]; then echo "Installing torch for the demos (once; make serve DEMOS= leaves it out)"; $(PIP) --editable '.[$(DEMOS)]'; fi
	@$(BIN)/python -m app.web.assets
	@touch $@

$(VENV)/.tested: $(VENV)/.served
	@echo "Installing what the tests need (once)"
	@$(PIP) --editable '.[test]'
	@if [ -n "$(DEMOS)" ]; then echo "Installing the frameworks that read what is exported (half a minute, once)"; $(PIP) --editable '.[frameworks]'; fi
	@$(BIN)/python -m tests.browser.chromium
	@touch $@
