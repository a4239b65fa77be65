# Each of run, test, lint, bench, fuzz and long does its own set-up; `make` alone lists what there is.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start Python some hundred times: it compiles what it reads once, not each time (`make clean` removes that again).
unexport PYTHONDONTWRITEBYTECODE

# The first Python that is 3.11 or newer, best one that can make a virtual environment. Or say which: make test PYTHON=/usr/bin/python3
first_python = $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import sys; $(1) sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)
PYTHON ?= $(or $(call first_python,import ensurepip;),$(call first_python))

BIN := .venv/bin
PINNED := tests/requirements
DECLARED := pyproject.toml setup.py $(filter-out %/tools.txt,$(wildcard $(PINNED)/*.txt))
# Each file pins what one target needs, with hashes: pip installs nothing else. It builds nothing either, since the
# requirements of a build have no hashes.
INSTALL := $(BIN)/python -m pip install -qq --require-hashes --only-binary :all: --requirement
# What a stamp holds: what was declared when the environment was made, and where the checkout lay (an environment cannot be moved).
STATE := { cat $(DECLARED) | cksum; pwd; }
# Two makes at once take turns, and the second finds the work done.
alone = $(if $(shell command -v flock),flock .venv.lock) sh -euc

.PHONY: help run test lint format bench fuzz long conformance pictures registries lock audit clean browser fronts .venv

help: ## this list
	@sed -n 's/^\([a-z.]*\):.*## /\1	/p' Makefile | expand -t 13

run: .venv/run.stamp ## the inspector, a resolver and a demo site: make run, make run ARGS='--port 8080'
	@exec $(BIN)/ararat serve $(ARGS)

# Much of a test is waiting, so there is one worker more than there are processors.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1)
test: .venv/test.stamp browser ## every test but those that take minutes: make test, make test ARGS='-k urn'
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) $(ARGS)

lint: .venv/test.stamp ## what ruff and pyright have to say
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

format: .venv/test.stamp ## let ruff order the imports and lay out the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

FUZZ ?= 20000
fuzz: .venv/fuzz.stamp ## inputs nobody thought of, so many for each invariant: make fuzz, make fuzz FUZZ=1000000
	@FUZZ=$(FUZZ) $(BIN)/python -m pytest -q -m long -p no:randomly -o faulthandler_timeout=0 --hypothesis-profile fuzz tests/fuzz $(ARGS)
	@mkdir -p .fuzz && cd .fuzz && ../$(BIN)/python ../tests/fuzz/fuzz_octets.py -runs=$(FUZZ) -timeout=20 -max_len=4096 .

bench: .venv/bench.stamp ## how fast it is, beside what it is compared with
	@$(BIN)/python -m pytest -q -p no:randomly --timeout 0 -o faulthandler_timeout=0 -o tmp_path_retention_policy=failed -o python_files='bench_*.py' -o python_functions='bench_*' tests/bench $(ARGS)

long: .venv/servers.stamp browser fronts ## the tests that take minutes, behind every server: ends with what each of them loses
	@$(BIN)/python -m pytest -m long -o faulthandler_timeout=0 $(ARGS)

conformance: .venv/test.stamp ## each requirement of the documents, and the tests that show it; 1 where one has neither test nor reason
	@$(BIN)/python tests/conformance/conftest.py

pictures: .venv/test.stamp browser ## every page and state as a picture in pictures/, and with ARGS=--readme those of the README
	@$(BIN)/python tests/e2e/pictures.py $(ARGS)

registries: .venv/run.stamp ## rewrite the bundled registries: make registries FILES='naan_records.json uri-schemes.xml'
	@[ -n "$(FILES)" ] || { echo "make registries FILES='...': which files, fetched from whoever keeps the registries?" >&2; exit 64; }
	@for file in $(FILES); do $(BIN)/ararat registry update --out identifiers/data $(ARGS) "$$file" || exit; done

lock: .venv/tools/stamp ## pin all that is installed, with hashes, in tests/requirements: make lock, make lock ARGS=--upgrade
	@.venv/tools/bin/python tests/lock.py $(ARGS)

audit: .venv/tools/stamp ## check all that is pinned for known vulnerabilities (pip-audit, at PyPI)
	@.venv/tools/bin/python tests/audit.py $(ARGS)

clean: ## remove everything that make made
	rm -rf .venv .venv.lock build dist *.egg-info static/vendor bench-results pictures test-results .fuzz .hypothesis .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv: .venv/test.stamp ## the virtual environment, with all that the tests need

# What running needs, and no more.
.venv/run.stamp: $(DECLARED)
	@[ -n "$(PYTHON)" ] || { echo "Ararat needs Python 3.11 or newer, and found none. On Debian 12 or later: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Ararat needs Python 3.11 or newer; $(PYTHON) is not." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make a virtual environment: the package python3-venv is missing. Do: apt-get install python3-venv" >&2; exit 1; }
	@$(alone) 'if [ "$$(cat $@ 2>/dev/null)" = "$$($(STATE))" ]; then touch $@; exit; fi; \
	  echo "Setting up .venv with $(PYTHON)"; \
	  [ "$$(tail -n 1 $@ 2>/dev/null)" = "$$(pwd)" ] || $(PYTHON) -m venv --clear .venv; \
	  $(INSTALL) $(PINNED)/run.txt; \
	  rm -rf .venv/build; $(INSTALL) $(PINNED)/build.txt --no-deps --target .venv/build; \
	  PYTHONPATH=.venv/build $(BIN)/python -m pip install -qq --no-index --no-deps --no-build-isolation --editable .; \
	  mkdir -p .venv/src; ln -sfn ../.. .venv/src/ararat; \
	  $(STATE) > $@'

.venv/test.stamp: .venv/run.stamp
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Adding what the tests need"; $(INSTALL) $(PINNED)/test.txt; cp $< $@'

.venv/bench.stamp: .venv/test.stamp
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Adding what the benchmarks run beside"; $(INSTALL) $(PINNED)/bench.txt; cp $< $@'

.venv/servers.stamp: .venv/test.stamp
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Adding the servers that sites stand behind"; $(INSTALL) $(PINNED)/servers.txt; cp $< $@'

# What is not there and cannot be installed is not tested, and the tests behind it say so.
fronts:
	@PATH="$$PATH:/usr/sbin:/usr/local/sbin"; for each in nginx:nginx-light apache2:apache2-bin caddy:caddy pgbouncer:pgbouncer; do \
	  program=$${each%%:*} package=$${each#*:}; command -v $$program >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  echo "No $$program for the tests behind it: installing Debian's (apt-get install $$package)" && \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$package >/dev/null; } || \
	  echo "No $$program: nothing is tested behind it (apt-get install $$package)" >&2; done

.venv/fuzz.stamp: .venv/test.stamp
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Adding what the fuzzing runs with"; $(INSTALL) $(PINNED)/fuzz.txt; cp $< $@'

# An environment of its own: what resolves and checks versions must not be among what is tested.
.venv/tools/stamp: $(PINNED)/tools.txt
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Setting up the tools of make lock and make audit"; $(PYTHON) -m venv --clear .venv/tools; \
	  .venv/tools/bin/python -m pip install -qq --require-hashes --only-binary :all: --requirement $<; cp $< $@'

# tests/e2e/conftest.py knows where browsers are and says what to do where there is none.
browser: .venv/test.stamp
	@$(BIN)/python tests/e2e/conftest.py >/dev/null 2>&1 || { \
	  [ -z "$$ARARAT_BROWSER" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  echo "No browser for the end-to-end tests: installing Debian's (apt-get install chromium-headless-shell, or chromium)" && \
	  apt-get -qq update && export DEBIAN_FRONTEND=noninteractive && { \
	  apt-get -qq install -y chromium-headless-shell >/dev/null 2>&1 || apt-get -qq install -y chromium >/dev/null; }; } || \
	  $(BIN)/python tests/e2e/conftest.py
