# Atlas. `make run` and `make test-all` do everything; the rest are their parts.

PYTHON ?= python3
VENV ?= .venv
PHOENIX_VENV ?= .venv-phoenix
JUDGES_VENV ?= .venv-judges
PEERS_VENV ?= .venv-peers
DOCS_VENV ?= .venv-docs
# On Linux the default PyTorch brings several GB of CUDA. For the CPU-only build:
#   make run TORCH_INDEX=https://download.pytorch.org/whl/cpu
TORCH_INDEX ?=
PIP_FLAGS ?= --disable-pip-version-check
# what pip takes: a list of `make constraints`, whole, and of each package only files with its hashes
HASHED = --quiet $(PIP_FLAGS) --no-deps --require-hashes --requirement
PYTEST_ARGS ?=
WORKERS ?= 2

BIN = $(VENV)/bin
# what `.env` and the environment say
SETTING = $(BIN)/python -c "import sys; from atlas_search.core.settings import load_settings; \
    print(getattr(load_settings(), sys.argv[1]))"
DEMO = create/samples
DEMO_NAME = atlas_demo
PDF_DEMO = data/pdf_demo
PEERS = chromadb langchain-chroma langchain-classic langchain-community rank-bm25 llama-index-core \
    llama-index-retrievers-bm25 llama-index-vector-stores-chroma haystack-ai txtai

PINS = $(BIN)/python .ci/pins.py

# `make run` runs it beside the server; in a variable, so that `make -n` does not run it
INSTALL_PHOENIX = $(MAKE) --no-print-directory phoenix-venv

.DEFAULT_GOAL := help
.PHONY: help run test test-all test-hostile test-schema check install install-test serve phoenix phoenix-venv judges-venv peers-venv constraints store demo-pdf bench bench-house bench-build bench-quality bench-search bench-load bench-answers bench-calibration bench-truth bench-model browser eval docs clean

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | expand -t 16

run: install store ## Install, build the demo if missing, start the server, and Phoenix beside it
	@echo "Starting the server."
	@exec $(BIN)/atlas run --phoenix-executable $(PHOENIX_VENV)/bin/phoenix \
	    --phoenix-install '$(INSTALL_PHOENIX)'

# A test that fails is run once more: its report says RERUN, and a fault that stays fails twice.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --reruns 1

test: install-test browser check ## Run the checks and tests that every change needs
	$(PYTEST) -m "not thorough" $(PYTEST_ARGS)

test-all: install-test phoenix-venv judges-venv browser check docs ## Run every check and test
	$(PYTEST) $(PYTEST_ARGS)

test-hostile: install-test ## Attack a server with thousands of requests, and kill 100 builds
	HOSTILE=1 $(BIN)/python -m pytest tests/server/hostile tests/building/test_kill.py $(PYTEST_ARGS)

test-schema: install-test ## Ask the API thousands of things that its description allows or forbids
	SCHEMA_EXAMPLES=200 $(BIN)/python -m pytest tests/server/test_description.py $(PYTEST_ARGS)

check: install-test ## Lint, format, types, import directions, the size of each room
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m benchmarks.house --check

install: $(VENV)/.installed ## Create the virtual environment with pinned dependencies

$(VENV)/.installed: pyproject.toml constraints.txt
	@echo "Installing Atlas into $(VENV), in three steps; the first time this takes a few minutes."
	@echo "1. An empty Python environment."
	@$(PYTHON) -m venv $(VENV)
	@echo "2. The libraries that Atlas needs, as in constraints.txt: a minute or two without a word."
	@$(BIN)/pip install $(HASHED) constraints.txt
	@echo "3. PyTorch, which runs the embedding model: the largest part. Then Atlas."
	@$(BIN)/pip install $(PIP_FLAGS) torch==2.13.0 $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))
	@$(BIN)/pip install --quiet $(PIP_FLAGS) --no-deps --no-build-isolation -e .
	@touch $@
	@echo "Atlas is installed."

install-test: $(VENV)/.installed-test ## Install what checks, tests and benchmarks need too

$(VENV)/.installed-test: $(VENV)/.installed constraints-test.txt
	@echo "Installing what the tests need."
	@$(BIN)/pip install $(HASHED) constraints-test.txt
	@touch $@

serve: install store ## Start the server only
	@exec $(BIN)/atlas serve

phoenix: phoenix-venv install ## Start Phoenix only
	@exec $(BIN)/atlas phoenix --phoenix-executable $(PHOENIX_VENV)/bin/phoenix

phoenix-venv: $(PHOENIX_VENV)/.installed ## Install Phoenix into an environment of its own
	@:

$(PHOENIX_VENV)/.installed: constraints-phoenix.txt
	@echo "Installing Phoenix into $(PHOENIX_VENV): an empty Python environment."
	@$(PYTHON) -m venv $(PHOENIX_VENV)
	@echo "Installing Phoenix into $(PHOENIX_VENV): 150 packages, as in constraints-phoenix.txt."
	@$(PHOENIX_VENV)/bin/pip install $(HASHED) constraints-phoenix.txt
	@touch $@
	@echo "Phoenix is installed."

judges-venv: $(JUDGES_VENV)/.installed ## Install RAGAS and DeepEval into an environment of their own
	@:

$(JUDGES_VENV)/.installed: constraints-judges.txt
	@echo "Installing RAGAS and DeepEval into $(JUDGES_VENV): 119 packages, as in constraints-judges.txt."
	@$(PYTHON) -m venv $(JUDGES_VENV)
	@$(JUDGES_VENV)/bin/pip install $(HASHED) constraints-judges.txt
	@touch $@
	@echo "RAGAS and DeepEval are installed."

docs: $(DOCS_VENV)/.installed ## Build the documentation as a site, build/site/docs/index.html
	$(DOCS_VENV)/bin/sphinx-build --fail-on-warning --quiet -c docs . build/site

$(DOCS_VENV)/.installed: constraints-docs.txt
	@echo "Installing Sphinx into $(DOCS_VENV): 38 packages, as in constraints-docs.txt."
	@$(PYTHON) -m venv $(DOCS_VENV)
	@$(DOCS_VENV)/bin/pip install $(HASHED) constraints-docs.txt
	@touch $@

constraints: install-test ## Write the lists of pinned packages and their hashes; UPGRADE=1 takes newer versions
	@$(BIN)/pip install --quiet $(PIP_FLAGS) uv
	$(PINS) constraints.txt '.[all]' hatchling
	$(PINS) constraints-test.txt '.[test]' --beside constraints.txt
	$(PINS) constraints-phoenix.txt arize-phoenix
	$(PINS) constraints-judges.txt ragas deepeval
	$(PINS) constraints-peers.txt $(PEERS) torch==2.13.0
	$(PINS) constraints-docs.txt sphinx furo myst-parser

store: install ## Build the bundled demo collection if it is the configured one and missing
	@if [ "$$($(SETTING) chroma_collection_name)" = $(DEMO_NAME) ]; then \
	    echo "Building the demo collection, if it is missing."; \
	    $(BIN)/atlas create files $(DEMO) --collection $(DEMO_NAME) --if-missing; fi

demo-pdf: install-test ## Write two small PDFs and build them: a tour of the pipeline
	$(BIN)/python -m tests.samples.pdf_demo $(PDF_DEMO)
	$(BIN)/atlas create pdf $(PDF_DEMO) --collection pdf_demo --every-file
	$(BIN)/atlas store verify pdf_demo
	@echo "Serve it: CHROMA_COLLECTION_NAME=pdf_demo make serve"

bench: install-test peers-venv ## Measure everything, other libraries too, and write docs/performance.md
	$(BIN)/python -m benchmarks.performance --peers \
	    $(if $(SIZES),--sizes $(SIZES)) $(if $(PEER_SIZES),--peer-sizes $(PEER_SIZES))

peers-venv: $(PEERS_VENV)/.installed ## Install the libraries that are measured beside Atlas
	@:

$(PEERS_VENV)/.installed: constraints-peers.txt
	@echo "Installing other libraries into $(PEERS_VENV): 150 packages, as in constraints-peers.txt."
	@$(PYTHON) -m venv $(PEERS_VENV)
	@$(PEERS_VENV)/bin/pip install $(HASHED) constraints-peers.txt
	@echo "Installing other libraries into $(PEERS_VENV): PyTorch."
	@$(PEERS_VENV)/bin/pip install --quiet $(PIP_FLAGS) torch==2.13.0 $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))
	@touch $@
	@echo "The other libraries are installed."

bench-house: install-test store ## Measure rooms, and the files that a question enters
	$(BIN)/python -m benchmarks.house

bench-build: install-test ## Measure what building a store costs; DATA=folder of JSONL for the rate
	$(BIN)/python -m benchmarks.build_store $(if $(DATA),--source $(DATA))

bench-quality: install-test ## Measure how well search ranks; DATA=folder of public test sets
	$(BIN)/python -m benchmarks.quality --data $(DATA)

bench-search: install-test ## Measure what a search costs; STORE=folder of a built collection
	$(BIN)/python -m benchmarks.search_speed $(STORE)

bench-load: install-test store ## Measure what streams cost those who search beside them
	$(BIN)/python -m benchmarks.load

bench-answers: install-test store ## Measure what answers cost beside the model, and put them under load
	$(BIN)/python -m benchmarks.answer_load

bench-truth: install-test ## Measure whether answers are right; DATA=folder of public test sets
	$(BIN)/python -m benchmarks.truth --data $(DATA)

bench-model: install-test store ## Measure how well a model answers; MODEL_URL=its server, up to /v1
	$(BIN)/python -m benchmarks.model --url $(MODEL_URL) $(if $(MODEL),--model $(MODEL))

bench-calibration: install-test ## Measure when to abstain; DATA=folder of public test sets
	$(BIN)/python -m benchmarks.calibration --data $(DATA)

browser: install-test ## Find or install a Chromium for the browser tests
	@$(BIN)/python -m tests.browser || $(BIN)/python -m playwright install chromium \
	    || echo "No Chromium: the browser tests will be skipped."

eval: install store ## Print how good the default target is on the bundled labels
	$(BIN)/atlas eval

clean: ## Remove environments, collections below data/stores and caches; what people wrote stays
	rm -rf $(VENV) $(PHOENIX_VENV) $(JUDGES_VENV) $(PEERS_VENV) $(DOCS_VENV) data/stores $(PDF_DEMO) build .mypy_cache .ruff_cache .pytest_cache
