# The commands of this book; `make help` lists them. Nothing has to be activated: all runs in the folder .venv, which
# the first command makes. Written for GNU make 3.81, since that is what macOS brings.

PYTHON = python3
PORT = 8000
ARGS =
OPTIONS =

BIN := .venv/bin
# nbgrader starts `alembic`, and a notebook may start `python`, by name.
export PATH := $(CURDIR)/$(BIN):$(PATH)

# Holds the folder's path, and is as old as the last installation.
INSTALLED := .venv/.installed
PROBLEM_SETS := autograder/release/.built

# A folder that was moved has to be installed anew: programs and the project itself were installed under its old path.
ifneq ($(shell cat $(INSTALLED) 2>/dev/null || pwd),$(shell pwd))
.PHONY: $(BIN)/python
endif

# nbgrader writes the problem sets into the gradebook, too: a new one, as at the start of a term, needs them.
ifeq ($(wildcard autograder/gradebook.db),)
.PHONY: $(PROBLEM_SETS)
endif

.NOTPARALLEL:
.PHONY: help install book serve links pdf lab problem-sets formgrader test check-the-checks lint format benchmark lock clean

help: ## this list
	@echo 'make COMMAND, where COMMAND is one of:'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' Makefile

book: problem-sets ## build the site into _build/html
	@$(BIN)/jupyter-book build . -W -n --keep-going
	@echo
	@echo 'The book is ready. Open this file in a browser:'
	@echo "  $$PWD/_build/html/index.html"
	$(if $(filter serve,$(MAKECMDGOALS)),,@echo 'or serve it on this computer with: make serve')

serve: port-is-free book ## build the site and serve it on http://127.0.0.1:8000 (another port: make serve PORT=8001)
	@echo
	@echo 'Open http://127.0.0.1:$(PORT) in a browser. Ctrl+C stops the server.'
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

# Asked before the book is built, so that nobody waits in vain.
.PHONY: port-is-free
port-is-free: $(INSTALLED)
	@$(BIN)/python -c 'import socket; socket.create_server(("127.0.0.1", $(PORT))).close()' 2>/dev/null || { \
	  echo 'Port $(PORT) of this computer is in use or not allowed. Choose another one: make serve PORT=8001' >&2; exit 1; }

links: problem-sets ## ask for every link to another host, and list them in _build/linkcheck/output.txt; needs a network
	@$(BIN)/jupyter-book build . -W -n --keep-going --builder custom --custom-builder linkcheck

pdf: book ## the whole book as _build/pdf/embedding-table.pdf; needs Chromium (.venv/bin/playwright install chromium)
	@$(BIN)/python -m book.pdf

lab: problem-sets ## JupyterLab on a page that says what to do, in my_work (its options: make lab ARGS=--no-browser)
	@$(BIN)/python -m autograder.my_work
	@JUPYTER_CONFIG_PATH="$$PWD/.jupyter" $(BIN)/python -m jupyterlab --LabApp.default_url=/lab/tree/my_work/start.ipynb $(ARGS)

problem-sets: $(PROBLEM_SETS) ## the notebooks to release, into autograder/release

$(PROBLEM_SETS): $(INSTALLED) $(wildcard solutions/*.py autograder/*.py autograder/checks/*.py autograder/problem_sets/*.md)
	@rm -f $@
	@$(BIN)/python -m autograder.build
	@touch $@

formgrader: problem-sets ## for teachers: JupyterLab on the course, with nbgrader's formgrader
	@cd autograder && "$(CURDIR)/$(BIN)/python" -m jupyterlab --LabApp.default_url=/formgrader $(ARGS)

test: lint problem-sets ## every test and check; some of them: make test ARGS='tests/test_solutions.py -k backward'
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

check-the-checks: $(INSTALLED) ## how many correct solutions pass, mistakes are caught and named, and mutants killed
	@$(BIN)/python tests/check_the_checks.py

lint: $(INSTALLED) ## style and types only
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy

format: $(INSTALLED) ## mend the style of all Python files
	@$(BIN)/python -m ruff check --fix .
	@$(BIN)/python -m ruff format .

benchmark: $(INSTALLED) ## time the ways to do the same thing; one: make benchmark ARGS=embedding_backward OPTIONS=--quick
	@for file in $(if $(ARGS),$(ARGS:%=benchmarks/%.py),benchmarks/[!_]*.py); do \
	  echo "$$file"; $(BIN)/python "$$file" $(OPTIONS) || exit 1; done

# `--native-tls` trusts the certificates that this computer trusts.
lock: $(INSTALLED) ## pin what pyproject.toml asks for; newest versions: make lock UPGRADE=1
	@$(BIN)/python -m uv pip compile pyproject.toml --output-file requirements.lock --universal --python-version 3.11 \
	  --all-extras --no-emit-index-url --no-emit-find-links --native-tls --quiet \
	  --custom-compile-command 'make lock' $(if $(UPGRADE),--upgrade)

clean: ## remove what was built; keeps the chapters' results (a rebuild is quick), .venv, and all work and grades
	@[ ! -d _build ] || find _build -mindepth 1 -maxdepth 1 ! -name .jupyter_cache -exec rm -r {} +
	@rm -rf $(PROBLEM_SETS) .mypy_cache .pytest_cache .ruff_cache .hypothesis

install: $(INSTALLED)

$(BIN)/python:
	@'$(PYTHON)' -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null || { \
	  found=$$('$(PYTHON)' -c 'import platform; print("is " + platform.python_version())' 2>/dev/null || echo 'does not run'); \
	  echo "The book needs Python 3.11 to 3.14, and $(PYTHON) $$found here." >&2; \
	  echo 'Install one of these versions and say which: make $(MAKECMDGOALS) PYTHON=python3.12' >&2; exit 1; }
	@'$(PYTHON)' -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo '$(PYTHON) comes without the module venv. On Debian and Ubuntu: sudo apt install python3-venv' >&2; exit 1; }
	@echo 'Making .venv with '"$$('$(PYTHON)' --version)"
	@'$(PYTHON)' -m venv --clear .venv

$(INSTALLED): requirements.lock pyproject.toml $(BIN)/python
	@echo 'Installing what the book needs into .venv (a minute or more the first time)'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@pwd > $@
