# Everything that a person or CI does here. `make` lists it.
PYTHON ?= python3
VENV ?= .venv
USER_VENV ?= .venv-demo
RUN := $(VENV)/bin
NOW := 2025-11-30
# Environments of one use need neither a pip of their own nor compiled bytecode: both cost more than what runs in them.
one_use = $(USER_VENV)/bin/python -m pip --python $(1)/bin/python install --quiet --disable-pip-version-check --no-compile

.DEFAULT_GOAL := help
.PHONY: help demo tour test test-long check bench judge week score torture docs recorded pictures site package lock lowest lowest-calls extras mutants browser fuzz sbom clean

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
ifdef CI  # exact versions, each file proved by its hash; nothing resolved: pip tries a newer release for "coverage[toml]" first, and stops
	$(RUN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r .ci/locked.txt
endif
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(RUN)/python -m compileall -q memctl
	touch $@

$(USER_VENV)/ready: pyproject.toml
	@echo "installing what a user installs, into $(USER_VENV)"
	@$(PYTHON) -m venv $(USER_VENV)
	@$(USER_VENV)/bin/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

demo: $(USER_VENV)/ready  ## the main job on a copy of fixtures/workspace, installed as a user installs it
	@RUN=$(abspath $(USER_VENV)/bin) NOW=$(NOW) sh bench/demo.sh

tour: $(USER_VENV)/ready  ## the same, and every other command
	@RUN=$(abspath $(USER_VENV)/bin) NOW=$(NOW) sh bench/demo.sh tour

test: $(VENV)/ready  ## the tests, but for those that take longest (ALL=yes: these too, in one run)
	$(RUN)/python -m pytest -n 3 --dist worksteal $(if $(ALL),,-m "not long")

test-long: $(VENV)/ready  ## the others: tests/long.txt
	$(RUN)/python -m pytest -n 3 --dist worksteal -m long

check: $(VENV)/ready  ## lint, types, order of rooms, figures of the code
	$(RUN)/ruff check memctl tests bench
	$(RUN)/ruff format --check memctl tests bench
	$(RUN)/mypy
	$(RUN)/lint-imports
	$(RUN)/python bench/help.py --check
	$(RUN)/python bench/house.py --check

bench: $(VENV)/ready  ## speed beside baselines, at 10,000 facts (FACTS=100000 for more)
	$(RUN)/python bench/speed.py --facts $(or $(FACTS),10000)

judge: $(VENV)/ready  ## stance, conflicts, beliefs and ingest on labelled sets and planted histories
	$(RUN)/python bench/stance.py
	$(RUN)/python bench/conflicts.py --held
	$(RUN)/python bench/replacement.py --held
	$(RUN)/python bench/beliefs.py
	$(RUN)/python bench/ingest.py tests/data/ingest/dev.jsonl tests/data/ingest/held.jsonl tests/data/ingest/people.jsonl

week: $(VENV)/ready  ## a week of an agent with a 32K window, with memctl and without
	$(RUN)/python bench/week.py

score: $(VENV)/ready  ## the reliability and security figures, one a line
	$(RUN)/python tests/torture --short

torture: $(VENV)/ready  ## the long versions of the same
	$(RUN)/python tests/torture
	MEMCTL_TORTURE=1 $(RUN)/python -m pytest -q -n 2 tests

docs: $(VENV)/ready  ## generate docs/commands.md, settings.md, the tables of grammar.md, mcp.md and languages.md, the man page and completions from the code
	$(RUN)/python bench/help.py

recorded: $(VENV)/ready  ## write anew the answers that tests keep: sessions, expected output, files of hosts; read the diff
	MEMCTL_UPDATE=1 $(RUN)/python -m pytest -q -n 2 -m "long or not long" tests/cli/test_scenarios.py tests/cli/test_expected.py tests/agents/test_connect.py

pictures: $(VENV)/ready  ## the pictures of docs/, from the fixture workspace (needs Chromium); look at them
	$(RUN)/python -m pip install --quiet --disable-pip-version-check 'playwright>=1.49,<2' 'pygal>=3.0.5,<4'
	$(RUN)/python bench/screens.py

site: $(USER_VENV)/ready  ## docs/ as a site in build/site; a link that leads nowhere fails
	test -x .venv-site/bin/mkdocs || $(PYTHON) -m venv --without-pip .venv-site
	$(call one_use,.venv-site) --require-hashes --no-deps -r .ci/site.txt
	NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --quiet --strict --config-file .ci/mkdocs.yml

package: $(USER_VENV)/ready  ## wheel and sdist in dist/, each installed in an empty environment and asked a question
	rm -rf dist
	$(PYTHON) -m venv --without-pip .venv-package
	$(call one_use,.venv-package) --require-hashes --no-deps -r .ci/package.txt
	.venv-package/bin/python -m build --no-isolation --outdir dist . > /dev/null
	PYTHON=$(PYTHON) PIP="$(USER_VENV)/bin/python -m pip" sh .ci/package.sh dist/*.whl dist/*.tar.gz

LOCK = uv pip compile --python-version 3.11 --no-emit-index-url --no-header --no-annotate --quiet --upgrade

lock:  ## resolve the exact and the lowest versions again (needs uv)
	$(LOCK) pyproject.toml --extra dev --universal --generate-hashes -o .ci/locked.txt
	echo 'mkdocs>=1.6,<2 mkdocs-material>=9.6,<10' | tr ' ' '\n' | $(LOCK) - --universal --generate-hashes -o .ci/site.txt
	echo 'build>=1.2,<2 hatchling>=1.24,<2' | tr ' ' '\n' | $(LOCK) - --universal --generate-hashes -o .ci/package.txt
	$(LOCK) pyproject.toml --extra dev --resolution lowest-direct --only-binary :all: -o .ci/lowest.txt

.venv-lowest/ready: pyproject.toml .ci/lowest.txt $(USER_VENV)/ready
	$(PYTHON) -m venv --without-pip .venv-lowest
	$(call one_use,.venv-lowest) -c .ci/lowest.txt -e '.[dev]'
	touch $@

lowest: .venv-lowest/ready  ## all tests with the lowest versions that pyproject.toml allows
	.venv-lowest/bin/python -m pytest -n 4 --dist worksteal

# What calls each package that a user may install: typer, rich, prompt_toolkit | mcp, starlette, uvicorn, pydantic | watchdog |
# psycopg | pyrage | pygal, Jinja2 | sqlite-utils | markdown-it-py, PyYAML | PyStemmer.
CALLS = tests/cli/test_cli.py tests/cli/test_terminal.py tests/cli/test_moves.py tests/cli/test_output.py \
	tests/server/test_http.py tests/server/test_mcp.py tests/watch tests/shared/test_publish.py tests/shared/test_faults.py tests/vault tests/view \
	tests/index/test_index.py tests/markdown/test_page.py tests/markdown/test_front_edit.py tests/language/test_terms.py

lowest-calls: .venv-lowest/ready  ## the part of them that calls other packages; CI runs it
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal -m "not long" $(CALLS)

extras:  ## the tests of vectors with numpy, hnswlib (which takes a C++ compiler) and a real model of sentence-transformers
	$(PYTHON) -m venv .venv-extras
	.venv-extras/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev,hnsw,sentence-transformers]' 'torch==2.13.0'
	.venv-extras/bin/python -c 'import hnswlib, numpy, sentence_transformers'
	.venv-extras/bin/python -m pytest -n 2 tests/vectors tests/recall/test_meaning.py

mutants: $(VENV)/ready  ## once a month: mutations of the modules behind the promises, or SAMPLE=150 of them, or NAME=…; shows those that no test notices
	$(RUN)/python -m pip install --quiet --disable-pip-version-check 'mutmut>=3.8,<4'
	nice $(RUN)/python bench/mutants.py $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(NAME)

browser:  ## the pages of `memctl view` in headless Chromium (of the system), with Playwright and axe-core
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
		{ echo "no Chromium here: install the package chromium, then run it again"; exit 1; }
	$(PYTHON) -m venv .venv-browser
	.venv-browser/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' 'playwright>=1.50,<2' 'axe-core-python>=0.1,<1'
	MEMCTL_BROWSER=1 .venv-browser/bin/python -m pytest tests/view

fuzz:  ## coverage-guided fuzzing of what reads strangers' words, SECONDS=60 for each of seven targets
	$(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/python -m pip install --quiet --disable-pip-version-check 'atheris>=3,<4' -e .
	for target in grammar page dates brackets front_matter question transcript; do \
		.venv-fuzz/bin/python tests/torture/fuzz.py $$target -max_total_time=$(or $(SECONDS),60) || exit 1; done

sbom: $(USER_VENV)/ready  ## a CycloneDX list of what a user installs, in build/sbom.json
	$(PYTHON) -m venv --without-pip .venv-sbom
	$(call one_use,.venv-sbom) 'cyclonedx-bom>=7,<8'
	mkdir -p build
	.venv-sbom/bin/cyclonedx-py environment --output-file build/sbom.json $(USER_VENV)/bin/python

clean:  ## remove what was made here
	rm -rf $(VENV) $(USER_VENV) .venv-lowest .venv-extras .venv-browser .venv-fuzz .venv-sbom .venv-site .venv-package mutants build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
