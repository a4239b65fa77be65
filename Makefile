# The targets run, quick, test, lint, bench, fuzz and long set up the environment. `make` lists all targets.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start Python hundreds of times. Keep compiled modules to start faster; `make clean` removes them.
unexport PYTHONDONTWRITEBYTECODE

# The first Python 3.11 or newer, preferably with ensurepip. The tests run on 3.11 to 3.13. To select one: make test PYTHON=/usr/bin/python3
first_python = $(shell for python in python3.13 python3.12 python3.11 python3.14 python3; do \
	$$python -c 'import sys; $(1) sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)
PYTHON ?= $(or $(call first_python,import ensurepip;),$(call first_python))

BIN := .venv/bin
PINNED := tests/requirements
DECLARED := pyproject.toml setup.py $(wildcard middleware/views/po/*.po webapp/language/po/*.po) $(filter-out %/tools.txt,$(wildcard $(PINNED)/*.txt))
# Each file pins all packages of one target with hashes, so pip resolves nothing. It installs only wheels, because the
# requirements of a build have no hashes. Python compiles modules at their first use; most modules are never used.
INSTALL := $(BIN)/python -m pip install -qq --no-compile --no-deps --require-hashes --only-binary :all: --requirement
# The wheel of pip that Python contains. It installs the pinned pip, instead of itself and setuptools, which takes seconds.
bundled_pip = import ensurepip, glob, os, sysconfig; \
	folder = sysconfig.get_config_var(\"WHEEL_PKG_DIR\") or os.path.join(os.path.dirname(ensurepip.__file__), \"_bundled\"); \
	print(*glob.glob(os.path.join(folder, \"pip-*.whl\"))[:1])
# The content of a stamp: the checksum of the requirements, and the folder, because an environment cannot be moved.
STATE := { cat $(DECLARED) | cksum; pwd; }
# Only one make at a time changes the environment.
alone = $(if $(shell command -v flock),flock .venv.lock) sh -euc

.PHONY: help run quick test newest oldest lint format bench fuzz long conformance pictures registries lock audit clean browser fronts wrk .venv

help: ## list the targets
	@sed -n 's/^\([a-z.]*\):.*## /\1	/p' Makefile | expand -t 13

run: .venv/run.stamp ## run the inspector, a resolver and a demo site: make run, make run ARGS='--port 8080'
	@exec $(BIN)/ararat serve $(ARGS)

# Tests wait, so use one more worker than processors. A worker whose test hangs is ended, so pytest needs no thread for it.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1)
IN_WORKERS = --processes $(WORKERS) -o faulthandler_timeout=0
test: .venv/test.stamp browser ## run all tests except the long ones: make test, make test ARGS='-k urn'
	@$(BIN)/python -m pytest $(IN_WORKERS) $(ARGS)

quick: .venv/test.stamp ## run the tests of the changed files and of the modules that import them: make quick, make quick SINCE=HEAD~3
	@files=$$($(BIN)/python tests/quick.py $(SINCE)) && $(BIN)/python -m pytest -q $(IN_WORKERS) $$files $(ARGS)

# Each has an environment of its own below .venv, which is made again each time. uv chooses the versions. The packages of
# the tests are the newest that work with those of the product.
ALL := .[app,log,metrics,oidc,postgres]
newest_python = $(shell for python in python3.15 python3.14 python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)
oldest_python = $(shell for python in python3.11 python3.12 python3.13 python3.14 python3.15 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)
with_versions = echo "Installing the $(1) versions with $(2)"; .venv/tools/bin/uv -q venv --clear --python $(2) .venv/$(1) && \
	.venv/tools/bin/uv -q pip install --python .venv/$(1)/bin/python --resolution $(3) --editable '$(ALL)' && \
	.venv/tools/bin/uv -q pip install --python .venv/$(1)/bin/python --group test && \
	mkdir -p .venv/$(1)/src && ln -sfn ../../.. .venv/$(1)/src/ararat && \
	.venv/$(1)/bin/python -m pytest $(IN_WORKERS) $(ARGS)

newest: .venv/tools/stamp browser ## run the tests with the newest Python that is installed, and the newest packages that pyproject.toml allows
	@$(call with_versions,newest,$(newest_python),highest)

oldest: .venv/tools/stamp browser ## run the tests with the oldest supported Python that is installed, and the lowest packages
	@$(call with_versions,oldest,$(oldest_python),lowest-direct)

lint: .venv/lint.stamp ## check the code with ruff and pyright, and the citations of RFCs where their texts are installed
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python tests/citations.py
	@$(BIN)/pyright

format: .venv/lint.stamp ## sort the imports and format the code with ruff
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

FUZZ ?= 20000
fuzz: .venv/fuzz.stamp ## test the invariants with random inputs: make fuzz, make fuzz FUZZ=1000000
	@FUZZ=$(FUZZ) $(BIN)/python -m pytest -q -m long -p no:randomly -o faulthandler_timeout=0 --hypothesis-profile fuzz tests/fuzz $(ARGS)
	@mkdir -p .fuzz && cd .fuzz && ../$(BIN)/python ../tests/fuzz/fuzz_octets.py -runs=$(FUZZ) -timeout=20 -max_len=4096 .

bench: .venv/bench.stamp wrk ## measure the speed, and compare it with other libraries and servers
	@TMPDIR=$${TMPDIR:-/tmp} $(BIN)/python -m pytest -q -p no:randomly --timeout 0 -o faulthandler_timeout=0 -o python_files='bench_*.py' -o python_functions='bench_*' tests/bench $(ARGS)

# A long test can take five minutes, because other programs can use the machine. Some have a longer limit.
long: .venv/servers.stamp browser fronts ## run the long tests, also behind servers and proxies
	@$(BIN)/python -m pytest -m long -o faulthandler_timeout=0 -o timeout=300 $(ARGS)

conformance: .venv/test.stamp ## list the requirements with their tests; fail if one has neither a test nor a reason
	@$(BIN)/python tests/conformance/conftest.py

pictures: .venv/test.stamp browser ## take screenshots of all pages into pictures/; ARGS=--readme or --desk updates those of docs
	@$(BIN)/python tests/e2e/pictures.py $(ARGS)

registries: .venv/run.stamp ## update the bundled registries: make registries FILES='naan_records.json uri-schemes.xml'
	@[ -n "$(FILES)" ] || { echo "make registries: set FILES to downloaded registry files: make registries FILES='naan_records.json'" >&2; exit 64; }
	@for file in $(FILES); do $(BIN)/ararat registry update --out identifiers/data $(ARGS) "$$file" || exit; done

lock: .venv/tools/stamp ## pin all packages with hashes in tests/requirements: make lock, make lock ARGS=--upgrade
	@.venv/tools/bin/python tests/lock.py $(ARGS)

audit: .venv/tools/stamp ## check the pinned packages for known vulnerabilities (pip-audit, at PyPI)
	@.venv/tools/bin/python tests/audit.py $(ARGS)

clean: ## remove all files that make creates
	rm -rf .venv .venv.lock build dist *.egg-info static/vendor middleware/views/po/*.mo webapp/language/po/*.mo bench-results pictures test-results .fuzz .hypothesis .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv: .venv/lint.stamp ## create the virtual environment for the tests and the linters

# The packages for `make run` only.
.venv/run.stamp: $(DECLARED)
	@[ -n "$(PYTHON)" ] || { echo "Ararat needs Python 3.11 or newer, which is not installed. On Debian 12 or later: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Ararat needs Python 3.11 or newer; $(PYTHON) is not." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) cannot create a virtual environment, because python3-venv is missing. Run: apt-get install python3-venv" >&2; exit 1; }
	@$(alone) 'if [ "$$(cat $@ 2>/dev/null)" = "$$($(STATE))" ]; then touch $@; exit; fi; \
	  echo "Setting up .venv with $(PYTHON)"; \
	  wheel=$$($(PYTHON) -c "$(bundled_pip)"); \
	  if [ "$$(tail -n 1 $@ 2>/dev/null)" = "$$(pwd)" ]; then wheel=; \
	  else $(PYTHON) -m venv --clear $${wheel:+--without-pip} .venv; fi; \
	  PYTHONPATH=$$wheel $(INSTALL) $(PINNED)/pip.txt; $(INSTALL) $(PINNED)/run.txt; \
	  rm -rf .venv/build; $(INSTALL) $(PINNED)/build.txt --target .venv/build; \
	  PYTHONPATH=.venv/build $(BIN)/python -m pip install -qq --no-index --no-deps --no-build-isolation --editable .; \
	  mkdir -p .venv/src; ln -sfn ../.. .venv/src/ararat; \
	  $(STATE) > $@'

.venv/test.stamp: .venv/run.stamp
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Installing the packages of the tests"; $(INSTALL) $(PINNED)/test.txt; cp $< $@'

.venv/lint.stamp: .venv/test.stamp
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Installing the linters"; $(INSTALL) $(PINNED)/lint.txt; cp $< $@'

# The benchmarks start the same servers as `make long`.
.venv/bench.stamp: .venv/servers.stamp
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Installing the packages of the benchmarks"; $(INSTALL) $(PINNED)/bench.txt; cp $< $@'

.venv/servers.stamp: .venv/test.stamp
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Installing the servers"; $(INSTALL) $(PINNED)/servers.txt; cp $< $@'

# The packages with which the tests verify a log. They are a folder, not a program.
GO_PACKAGES := /usr/share/gocode/src/golang.org/x/mod

# Install the missing servers and proxies if possible. The tests report those that are still missing.
fronts:
	@PATH="$$PATH:/usr/sbin:/usr/local/sbin"; for each in nginx:nginx-light apache2:apache2-bin caddy:caddy pgbouncer:pgbouncer \
	  httxt2dbm:apache2-utils php-cgi:php-cgi logrotate:logrotate systemd-analyze:systemd \
	  patroni:patroni etcd:etcd-server php-fpm8.2:php-fpm mariadbd:mariadb-server /usr/share/wordpress:wordpress \
	  /usr/share/wordpress/wp-content/themes/twentytwentythree:wordpress-theme-twentytwentythree \
	  /usr/lib/apache2/modules/mod_evasive20.so:libapache2-mod-evasive \
	  go:golang-go $(GO_PACKAGES)/sumdb:golang-golang-x-mod-dev; do \
	  program=$${each%%:*} package=$${each#*:}; command -v $$program >/dev/null || [ -e $$program ] || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  echo "$$program is missing: installing it (apt-get install $$package)" && \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$package >/dev/null; } || \
	  echo "$$program is missing, so its tests fail. Install it: apt-get install $$package" >&2; done

# The program that sends the requests of the benchmarks.
wrk:
	@command -v wrk >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "wrk is missing: installing it (apt-get install wrk)" && \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends wrk >/dev/null; } || \
	  echo "wrk is missing, so some benchmarks are skipped. Install it: apt-get install wrk" >&2

.venv/fuzz.stamp: .venv/test.stamp
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Installing the packages of the fuzzing"; $(INSTALL) $(PINNED)/fuzz.txt; cp $< $@'

# A separate environment, because the tools must not be among the tested packages.
.venv/tools/stamp: $(PINNED)/tools.txt
	@$(alone) 'if cmp -s $< $@; then touch $@; exit; fi; echo "Installing the tools of make lock and make audit"; $(PYTHON) -m venv --clear .venv/tools; \
	  .venv/tools/bin/python -m pip install -qq --require-hashes --only-binary :all: --requirement $<; cp $< $@'

# tests/e2e/conftest.py finds the browser, or prints how to install one.
browser: .venv/test.stamp
	@$(BIN)/python tests/e2e/conftest.py >/dev/null 2>&1 || { \
	  [ -z "$$ARARAT_BROWSER" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  echo "The end-to-end tests need a browser: installing it (apt-get install chromium-headless-shell, or chromium)" && \
	  apt-get -qq update && export DEBIAN_FRONTEND=noninteractive && { \
	  apt-get -qq install -y chromium-headless-shell >/dev/null 2>&1 || apt-get -qq install -y chromium >/dev/null; }; } || \
	  $(BIN)/python tests/e2e/conftest.py
