# The verbs people and CI share. `make serve` and `make test` set up all they need, once.
HOST ?= 127.0.0.1
PORT ?= 8000
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# constraints.txt says which version of everything: what is installed is what was tested.
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
UV ?= uv
# Tests on as many processors as there are, each taking what is left.
SPREAD := -n auto --maxprocesses 4 --dist worksteal
# DEMOS= (empty) leaves torch out: everything but the live demos works without it.
DEMOS ?= demos

.PHONY: serve test quick soak lint format bench screenshots lock clean

serve: $(VENV)/.served
	@$(BIN)/shardboard serve --host $(HOST) --port $(PORT)

# Pages in a browser and ranks have runs of their own: a browser keeps an event loop that others would meet, and what
# ranks measure should not share its processors with other tests.
test: $(VENV)/.tested
	@$(BIN)/python -m pytest -m "not browser and not demo and not soak" $(SPREAD)
	@$(BIN)/python -m pytest -m "browser and not soak" $(SPREAD)
	@$(BIN)/python -m pytest -m "demo and not soak"

# What needs no ranks, no framework and no browser, on as many processors as there are.
quick: $(VENV)/.tested
	@$(BIN)/python -m pytest -m quick $(SPREAD)

# Load, kills and endurance, one after another: half an hour, most of it a hundred runs of torchrun beside a busy processor.
soak: $(VENV)/.tested
	@$(BIN)/python -m pytest -m soak

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

# Keeps every version that pyproject.toml still allows; make lock NEWEST=--upgrade takes the newest ones instead.
lock:
	@command -v $(UV) >/dev/null || { echo "make lock needs uv, which resolves for every Python and platform at once: pip install uv, or name it: make lock UV=/path/to/uv"; exit 1; }
	@$(UV) pip compile --quiet --universal --all-extras --python-version 3.11 --no-annotate --no-emit-index-url \
	  --custom-compile-command "make lock" $(NEWEST) --output-file constraints.txt pyproject.toml
	@echo "constraints.txt: $$(grep -c == constraints.txt) versions. Commit it with what needed them."

clean:
	rm -rf $(VENV) .cache screenshots

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Shardboard needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another: make serve PYTHON=python3.12")'
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.served: $(VENV)/.made pyproject.toml constraints.txt
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
