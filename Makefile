# Every target sets up what it needs by itself and does nothing the second time.
PYTHON ?= python3
BIN := .venv/bin
# Without compiled modules every process of a test compiles the package again.
unexport PYTHONDONTWRITEBYTECODE
# Most tests wait for processes that they started, so there are two workers per core.
# pytest exits 5 when a selection is empty, and make then fails.
PYTEST := $(BIN)/python -m pytest -n $(shell echo $$(( $$(nproc) * 2 ))) --dist worksteal
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help install demo test test-evaluation test-rest slow check check-tasks fuzz bench \
    redteam soak machines study cluster simulate docs fresh clean
.DEFAULT_GOAL := help

help:  ## Show this list.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

install: .venv/.runtime bwrap  ## Set up the benchmark and its sandbox.
	@$(BIN)/mlab prepare house-price

demo: .venv/.runtime bwrap  ## An agent without a language model improves a real task.
	@$(BIN)/mlab run house-price --agent tuner --max-steps 40 --yes --open

test: .venv/.dev bwrap chromium  ## Run the tests; at most 8 minutes on 2 cores.
	@$(BIN)/mlab prepare --all
	@$(MAKE) --no-print-directory -j2 test-evaluation test-rest

# Most tests wait, and these compute: side by side they take a minute less.
test-evaluation:
	@$(BIN)/python -m pytest -q tests/evaluation --cov=mlagentbench.evaluation --cov-branch --cov-fail-under=100 --cov-report=term-missing:skip-covered

test-rest:
	@$(PYTEST) --ignore=tests/evaluation -m "not slow" --durations=25

slow: .venv/.dev bwrap chromium  ## Run the long tests, and samples of fuzz and bench; at most 25 minutes.
	@$(BIN)/mlab prepare --all
	@$(PYTEST) -m slow --durations=25
	@HYPOTHESIS_PROFILE=sample $(PYTEST) -m "hypothesis and not slow"
	@# A sample that fails nothing, because times depend on how busy the machine is.
	-@$(BIN)/python benchmarks/all.py command_start

check: .venv/.dev  ## Style, types and the direction of imports.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tests/typing/public_interface.py
	@$(BIN)/lint-imports

check-tasks: .venv/.dev bwrap  ## Check that every task is sound.
	@$(BIN)/mlab check --all

MINUTES ?= 10
fuzz: .venv/.dev bwrap  ## Fuzz each reader for MINUTES (10), then run the property tests thoroughly.
	@$(BIN)/python tools/fuzz.py $(MINUTES)
	@HYPOTHESIS_PROFILE=thorough $(PYTEST) -m hypothesis

bench: .venv/.dev bwrap  ## Performance, each a ratio against a peer in the same run.
	@$(BIN)/mlab prepare house-price
	@$(BIN)/python benchmarks/all.py

redteam: .venv/.dev bwrap  ## Attack the sandbox as root and as a user; at most 20 minutes.
	@$(BIN)/mlab prepare house-price vectorization
	@$(BIN)/python -m tests.redteam.kinds

soak: .venv/.dev bwrap  ## Kill and resume a hundred runs, then 500 attacks; at most 30 minutes.
	@$(BIN)/mlab prepare house-price
	@$(BIN)/python tools/soak.py

machines: .venv/.dev bwrap qemu  ## Doctor, a run and attacks in a virtual machine; at most 30 minutes.
	@$(BIN)/mlab prepare house-price
	@$(BIN)/python tools/machines.py

study: .venv/.dev bwrap  ## Run tools/study.toml, a small local model; continues if stopped.
	@$(BIN)/mlab prepare house-price
	@$(BIN)/python tools/study.py

cluster: .venv/.dev bwrap slurm  ## Studies on real Ray and Slurm on this machine; at most 45 minutes.
	@$(BIN)/mlab prepare house-price
	@$(BIN)/python tools/cluster.py

simulate: .venv/.dev  ## How often our intervals hold: simulated studies, some minutes.
	@$(BIN)/python tools/simulate.py --write

docs: .venv/.dev  ## Write the pages of docs/ that come from code and records.
	@for page in suite study cli files; do $(BIN)/python tools/$${page}_page.py; done
	@$(BIN)/python tools/simulate.py --page >/dev/null

fresh:  ## Run the commands of README and docs in a fresh clone; at most 15 minutes.
	@$(PYTHON) tools/fresh.py

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "Python 3.11 or newer is needed; say which with: make PYTHON=python3.12" >&2; exit 3; }
	@echo "setting up .venv (about a minute)"
	@$(PYTHON) -m venv .venv

.venv/.runtime: pyproject.toml constraints.txt | .venv/bin/python
	@$(PIP) --upgrade pip
	@$(PIP) -e .
	@touch $@

.venv/.dev: .venv/.runtime
	@$(PIP) -e '.[dev,local,langchain,ray,slurm]'
	@touch $@

.PHONY: bwrap chromium slurm qemu
bwrap:
	@tools/need.sh bwrap bubblewrap

chromium:
	@tools/need.sh chromium chromium

slurm:
	@PATH=$$PATH:/usr/sbin tools/need.sh slurmctld "slurmctld slurmd slurm-client munge"

qemu:
	@tools/need.sh qemu-system-x86_64 qemu-system-x86
	@tools/need.sh mmdebstrap "mmdebstrap e2fsprogs cpio kmod openssh-client"

clean:  ## Remove the virtual environment; the data cache and runs/ stay.
	rm -rf .venv
