# Every target works on a fresh machine: it makes .venv and installs what is missing, once.
PYTHON ?= python3
VENV   := .venv
LOWEST := .venv-lowest
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed

PAPER  ?=
FIGURE ?=
SCALE  ?= quick
JOBS   ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)
ARGS   ?=
SAMPLE ?=
SEED   ?=
FORMAT ?=
SIZE ?=
PEERS  ?=
SERVE  ?=
PORT   ?= 8765
FETCH  ?=

# Where bytecode is kept nowhere, each of hundreds of processes compiles our modules anew.
unexport PYTHONDONTWRITEBYTECODE

# FIGURE is figure2 together with PAPER, or syndicated/figure2 alone.
figure := $(if $(FIGURE),figure=$(if $(findstring /,$(FIGURE)),,$(addsuffix /,$(filter-out all,$(PAPER))))$(FIGURE))
paper  := $(if $(filter-out all,$(PAPER)),paper=$(PAPER))

# The shell takes parentheses, as in tuner=cdt(radius_scale=0.5), only if they are quoted.
open   := (
close  := )
args   := $(if $(findstring ',$(ARGS))$(findstring ",$(ARGS)),$(ARGS),$(subst $(close),\$(close),$(subst $(open),\$(open),$(ARGS))))

# Refuses an older Python, with which pip would end in a list of versions: $(call recent,PYTHON,CURE).
recent = $(1) -c 'import sys; v = sys.version_info; sys.exit("error: found Python %d.%d as $(1), expected 3.11 or later: $(2)" % v[:2] if v < (3, 11) else 0)'

.PHONY: help setup reproduce-paper run compare verify test test-release test-lowest lint benchmark gallery docs clean
help:
	@echo 'make reproduce-paper [PAPER=syndicated] [FIGURE=figure2] [SCALE=smoke|quick|reduced|paper] [JOBS=2] [FORMAT=pdf,tex] [SIZE=column|text] [FETCH=no]'
	@echo 'make run ARGS="env=movielens algorithm=lints tuner=cdt horizon=2000"'
	@echo 'make compare ARGS="tuner=tl,cdt,syndicated env=synthetic_linear"'
	@echo 'make gallery [SERVE=1] [PORT=8765]'
	@echo 'make verify [PAPER=cdt] [FIGURE=cdt/figure2] [SAMPLE=1000 or all, of its repetitions] [SEED=20261127]'
	@echo 'make benchmark [PEERS=1, beside other libraries]'
	@echo 'make test | test-release | test-lowest | lint | docs | setup | clean'

setup: $(STAMP)

# Packages, and parts of one, of which the suite imports little or nothing: left out, compiling takes 27 core-seconds, not 51.
RARE := debugpy|fontTools|mypyc?|networkx|pip|pygments|seaborn|setuptools|sqlalchemy|sympy|torchgen|torch/(_dynamo|_inductor|ao|distributed|onnx|testing)

# pip would compile all modules on one processor, most of its time: this does it on all, without packages' own tests and
# without what is imported rarely, which Python compiles then.
$(STAMP): pyproject.toml constraints.txt
	@$(call recent,$(PYTHON),name another by PYTHON=)
	@echo 'Installing into $(VENV) what all papers and the tests need: about 2 GB (5 GB unless PyTorch is the CPU build), which takes some minutes.'
	$(PYTHON) -m venv $(VENV)
	@$(call recent,$(PY),remove $(VENV))
	$(PY) -m pip install -q --upgrade pip
	$(PY) -m pip install --no-compile -c constraints.txt torch==2.13.0 -e '.[dev]'
	@echo 'Compiling the packages, for up to a minute.'
	@$(PY) -m compileall -qq -j $(JOBS) -x '/(tests?|$(RARE))/' $(VENV)/lib || true
	@touch $@

# First fetches the real data that needs no account; where there is no network, and with FETCH=no, stand-ins are used.
reproduce-paper: setup
	$(if $(filter no,$(FETCH)),,$(PY) -m bench.data fetch all)
	$(PY) -m runners.reproduce $(paper) $(figure) scale=$(SCALE) jobs=$(JOBS) $(if $(FORMAT),'format=[$(FORMAT)]') $(if $(SIZE),size=$(SIZE))

run: setup
	$(PY) -m runners.run $(args)

compare: setup
	$(PY) -m runners.compare $(args)

verify: setup
	$(PY) -m runners.verify $(if $(FIGURE),$(figure),$(paper)) jobs=$(JOBS) $(if $(SAMPLE),sample=$(SAMPLE)) $(if $(SEED),seed=$(SEED))

test: setup
	$(PY) -m pytest -n $(JOBS) --dist worksteal

test-release: setup
	$(PY) -m pytest -n $(JOBS) --dist worksteal -m release
	BENCH_MUTATIONS=5000 $(PY) -m pytest -n $(JOBS) --dist worksteal tests/test_mutated_data.py

# The lowest versions that pyproject.toml allows, without extras: an environment of its own, a run and a comparison.
test-lowest:
	@$(call recent,$(PYTHON),name another by PYTHON=)
	$(PYTHON) -m venv $(LOWEST)
	sed -n 's/^    "\([a-z0-9-]*\)>=\([0-9.]*\)",.*/\1==\2/p' pyproject.toml > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install -q -c $(LOWEST)/lowest.txt -e .
	cd $(LOWEST) && BENCH_RESULTS_DIR=results bin/bandit-bench run env=switching_sine algorithm=none tuner=changepoint_gp horizon=300 repetitions=2 jobs=1
	cd $(LOWEST) && BENCH_RESULTS_DIR=results bin/bandit-bench compare tuner=cdt,tl env=synthetic_linear horizon=300 repetitions=5 jobs=1 format=pdf,tex

lint: setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

benchmark: setup
	$(if $(PEERS),$(PY) -m pip install -q coba==8.1.0 mabwiser==2.7.4)
	$(PY) -m tools.$(if $(PEERS),peers,benchmark)

gallery: setup
	$(PY) -m runners.gallery
	$(if $(SERVE),$(PY) -m http.server $(PORT) --bind 127.0.0.1 --directory "$${BENCH_RESULTS_DIR:-results}")

docs: setup
	$(PY) -m tools.docs

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
