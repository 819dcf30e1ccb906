# make help lists the targets. Variables: FILE= (demo), VENV= (an existing virtual environment), PROFILE= (cargo's), JOBS=,
# PYTEST_OPTIONS=, UPROOT=, DATA= and SUITE_OPTIONS= (test-uproot), WHEEL_TARGETS= (wheels), SCALE=, STUDY= and STUDY_OPTIONS= (studies),
# PREFIX= and DESTDIR= (install), SECONDS_EACH= and CORPUS_FILES= (fuzz), REF= and COMPARE_OPTIONS= (bench-compare), HISTORY= (bench, bench-history).
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
SECONDS_EACH ?= 60
SCALE ?= 1
PREFIX ?= /usr/local
PROFILE ?= release
# The names of ROOT's tools that the command answers to.
ROOT_NAMES := hadd rootls rootprint rootcp rootmv rootrm rootmkdir rooteventselector rootslimtree rootreadspeed
VERSION := $(shell sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"/\1/p' Cargo.toml)
BIN := target/$(PROFILE)/basketry
# The command and the wheel of the tests' profile have the features of the tests' libraries, so that each library is compiled once.
TESTED := --profile tested --features basketry-cli/as-tested
BUILT := --profile $(PROFILE) $(if $(filter tested,$(PROFILE)),--features basketry-cli/as-tested)
# Relative to fuzz/.
CORPUS_FILES ?= ../../shared/corpus/files
TEST_STAMP := $(VENV)/.basketry-tests.stamp
WHEEL_STAMP := $(VENV)/.basketry-wheel-$(PROFILE).stamp
DEMO_VENV := build/demo/venv
DEMO_STAMP := $(DEMO_VENV)/.basketry-demo.stamp
DEMO_INPUT := build/demo/nano-like.root
DOCS_VENV := build/docs/venv
DOCS_STAMP := $(DOCS_VENV)/.basketry-docs.stamp
ZIG_VENV := build/zig/venv
ZIG_STAMP := $(ZIG_VENV)/.basketry-zig.stamp
WHEEL_TARGETS ?= x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
TARBALL_TARGET ?= x86_64-unknown-linux-musl
# Systems that the code must compile for, besides the one that it is tested on.
LINT_TARGETS ?= aarch64-apple-darwin x86_64-unknown-linux-musl
FILE ?= $(DEMO_INPUT)
DEMO_OUT := build/demo/tuned.root

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

.PHONY: build
build: ## the release binary, target/release/basketry
	cargo build $(BUILT) --bin basketry -p basketry-cli

# With the command in one go: both have the same crates below.
.PHONY: capi
capi: ## the library for C and C++, target/release/capi/libbasketry.so and .a
	cargo build $(BUILT) --bin basketry --lib -p basketry-cli -p basketry-capi
	packaging/capi/link.sh target/$(PROFILE)/libbasketry_capi.a target/$(PROFILE)/capi $(VERSION)

# The texts of the licences of all libraries that are linked.
THIRD-PARTY.txt: Cargo.lock tools/notices.py
	$(PYTHON) tools/notices.py

.PHONY: install
install: capi THIRD-PARTY.txt ## the command, the library, its headers, a pkg-config file and a CMake package (PREFIX=, DESTDIR=)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin include lib/pkgconfig lib/cmake/basketry share/doc/basketry)
	install -m 644 LICENSE THIRD-PARTY.txt $(DESTDIR)$(PREFIX)/share/doc/basketry/
	install -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/basketry
	# The names of ROOT's tools are not in the way of ROOT's own: whoever wants them puts this folder first in PATH.
	install -d $(DESTDIR)$(PREFIX)/libexec/basketry/bin
	for name in $(ROOT_NAMES); do ln -sfn ../../../bin/basketry $(DESTDIR)$(PREFIX)/libexec/basketry/bin/$$name; done
	install -m 644 crates/capi/include/* $(DESTDIR)$(PREFIX)/include/
	cp -d target/$(PROFILE)/capi/libbasketry.so* $(DESTDIR)$(PREFIX)/lib/
	install -m 644 target/$(PROFILE)/libbasketry_capi.a $(DESTDIR)$(PREFIX)/lib/libbasketry.a
	sed -e 's|@PREFIX@|$(abspath $(PREFIX))|' -e 's|@VERSION@|$(VERSION)|' packaging/capi/basketry.pc.in \
	  >$(DESTDIR)$(PREFIX)/lib/pkgconfig/basketry.pc
	sed 's|@VERSION@|$(VERSION)|' packaging/capi/basketryConfigVersion.cmake.in \
	  >$(DESTDIR)$(PREFIX)/lib/cmake/basketry/basketryConfigVersion.cmake
	install -m 644 packaging/capi/basketryConfig.cmake $(DESTDIR)$(PREFIX)/lib/cmake/basketry/

.PHONY: wheel
wheel: $(TEST_STAMP) THIRD-PARTY.txt ## the Python package, build/wheels/*.whl
	$(VENV)/bin/maturin build $(BUILT) --quiet --interpreter $(VENV)/bin/python --out build/wheels
	for wheel in build/wheels/*.whl; do $(VENV)/bin/python tools/wheel_command.py "$$wheel"; done

# zig links against the symbols of an old C library, for any processor. The wheel of `make wheel` needs this machine's.
.PHONY: wheels
wheels: $(ZIG_STAMP) THIRD-PARTY.txt ## wheels for Linux of 2018 and newer (glibc 2.28), build/manylinux/*.whl (WHEEL_TARGETS=, default x86-64 and aarch64)
	rustup target add $(WHEEL_TARGETS)
	for target in $(WHEEL_TARGETS); do \
	  PATH="$(CURDIR)/$(ZIG_VENV)/bin:$$PATH" maturin build --zig --target "$$target" --compatibility manylinux_2_28 \
	    --profile $(PROFILE) --quiet -j $(JOBS) --interpreter python3 --out build/manylinux; \
	  for wheel in build/manylinux/*_"$${target%%-*}".whl; do \
	    python3 tools/wheel_command.py "$$wheel" $(ZIG_VENV)/bin/python -m ziglang cc -target "$${target%%-*}-linux-gnu.2.28"; \
	  done; \
	done

# A program without a dynamic loader has no libXrdPosix: root:// is refused with the way out.
.PHONY: tarball
tarball: $(ZIG_STAMP) THIRD-PARTY.txt ## the command as one static file with manual pages and completions, build/tarball/*.tar.gz (TARBALL_TARGET=, default x86-64)
	rustup target add $(TARBALL_TARGET)
	PATH="$(CURDIR)/$(ZIG_VENV)/bin:$$PATH" cargo-zigbuild build $(BUILT) --target $(TARBALL_TARGET) --bin basketry -p basketry-cli
	packaging/tarball.sh target/$(TARBALL_TARGET)/$(PROFILE)/basketry build/tarball/basketry-$(VERSION)-$(TARBALL_TARGET)

.PHONY: test-aarch64
test-aarch64: ## the aarch64 wheel of `make wheels`, with Debian's Python for arm64 under qemu; unpacked into build/aarch64, nothing is installed
	packaging/test_aarch64.sh build/manylinux/*_aarch64.whl build/aarch64

.PHONY: demo
demo: ## inspect, tune, rewrite and verify a file (FILE=..., default: a generated NanoAOD-like one)
	# The profile of the tests: it builds in a fraction of the release's time.
	$(MAKE) show PROFILE=tested

.PHONY: show
show: build $(FILE)
	$(BIN) inspect "$(FILE)"
	$(BIN) tune "$(FILE)" -o "$(DEMO_OUT)" --force
	$(BIN) verify "$(FILE)" "$(DEMO_OUT)"
	@echo; ls -l "$(FILE)" "$(DEMO_OUT)"

.PHONY: test
test: test-rust test-python ## every test, with real ROOT and uproot as referees; names the slowest

.PHONY: test-rust
test-rust: ## the tests of the crates, in the profile and with the libraries of the command that the Python tests use
	# An extension module leaves Python's symbols open. Examples are checked by clippy.
	cargo test $(TESTED) --workspace --exclude basketry-python --exclude basketry-fuzz --lib --bins --tests -j $(JOBS)
	cargo test $(TESTED) --workspace --exclude basketry-python --exclude basketry-fuzz --doc -j $(JOBS)

.PHONY: test-python
test-python: ## pytest: one layout for each corpus file, all layouts for some
	$(MAKE) pytest PROFILE=tested

.PHONY: test-full
test-full: ## pytest: every layout for every corpus file, every corruption
	$(MAKE) pytest PROFILE=tested PYTEST_OPTIONS=--full

.PHONY: snapshots
snapshots: ## writes tests/snapshots anew: help, messages, `inspect`, requests; look at what changed
	$(MAKE) pytest PROFILE=tested PYTEST_OPTIONS="--renew -k test_snapshots"

.PHONY: test-coffea
test-coffea: $(TEST_STAMP) ## the tests of basketry.distributed and nanoevents beside Dask, parsl and coffea, which are installed for them
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements-coffea.txt
	$(MAKE) pytest PROFILE=tested PYTEST_OPTIONS="-k 'test_distributed or test_nanoevents or test_fileset'"

.PHONY: test-uproot
test-uproot: build $(WHEEL_STAMP) ## uproot's own tests, and its guide, with basketry in uproot's place (UPROOT= and DATA=: checkouts of uproot5 and scikit-hep-testdata)
	$(VENV)/bin/python tests/uproot_suite/run.py --uproot $(UPROOT) --data $(DATA) --jobs $(JOBS) $(SUITE_OPTIONS)
	$(VENV)/bin/python -W ignore tests/uproot_suite/guide.py --uproot $(UPROOT) --data $(DATA)

.PHONY: pytest
pytest: capi $(WHEEL_STAMP)
	BASKETRY_BIN="$${BASKETRY_BIN:-$(CURDIR)/$(BIN)}" $(VENV)/bin/python -m pytest tests -n $(JOBS) --dist worksteal --durations=15 $(PYTEST_OPTIONS)

.PHONY: lint
lint: lint-rust lint-python lint-targets ## rustfmt, clippy, rustdoc, ruff, mypy, other systems: no warning is allowed

.PHONY: lint-rust
lint-rust:
	cargo fmt --all --check
	# The profile of the tests: build scripts and procedural macros are compiled once for both. With the fuzz targets.
	cargo clippy $(TESTED) --workspace --all-targets -j $(JOBS) -- -D warnings
	# With the driver and the arguments of `cargo clippy`, which has checked the crates: else they are checked once more.
	RUSTC_WORKSPACE_WRAPPER="$$(rustc --print sysroot)/bin/clippy-driver" \
	  CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ \
	  RUSTDOCFLAGS="-D warnings" cargo doc $(TESTED) --no-deps -j $(JOBS)

# C libraries are compiled by zig, and nothing is linked.
.PHONY: lint-targets
lint-targets: $(ZIG_STAMP) ## cargo check for macOS, and for Linux with musl (LINT_TARGETS=)
	rustup target add $(LINT_TARGETS)
	for target in $(LINT_TARGETS); do \
	  PATH="$(CURDIR)/$(ZIG_VENV)/bin:$$PATH" RUSTFLAGS="-D warnings" CARGO_TARGET_DIR=target/systems cargo-zigbuild check $(TESTED) \
	    -j $(JOBS) --target "$$target" -p basketry-cli -p basketry-capi -p basketry-python || exit 1; \
	done

.PHONY: lint-python
lint-python: $(TEST_STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

.PHONY: test-environment
test-environment: $(TEST_STAMP)

.PHONY: bench
bench: build $(WHEEL_STAMP) ## the published figures, beside ROOT, uproot, cat and the bare codecs (BENCH=names, default all)
	PYTHONPATH=tests:bench $(VENV)/bin/python bench/run.py $(addprefix --history ,$(HISTORY)) $(BENCH)

.PHONY: bench-history
bench-history: ## draws the figures of all runs of `make bench` over commits, and names what moved (HISTORY=folder of the runs' files)
	PYTHONPATH=tests:bench $(VENV)/bin/python bench/history_page.py $(or $(HISTORY),build/bench/history)

# The other commit is built in a worktree of its own. JOBS= does not matter: a job has one thread.
.PHONY: bench-compare
bench-compare: $(TEST_STAMP) build ## the command beside that of another commit (REF=) in turns: fails where CPU, memory or bytes grow past 5 % (COMPARE_OPTIONS=)
	[ -d build/bench/ref ] || git worktree add --detach build/bench/ref
	git -C build/bench/ref checkout --quiet --detach "$$(git rev-parse --verify "$(REF)^{commit}")"
	CARGO_TARGET_DIR="$(CURDIR)/build/bench/ref-target" cargo build --manifest-path build/bench/ref/Cargo.toml --profile $(PROFILE) \
	  --bin basketry -p basketry-cli
	PYTHONPATH=tests:bench BASKETRY_BIN="$(CURDIR)/$(BIN)" \
	  $(VENV)/bin/python bench/compare.py build/bench/ref-target/$(PROFILE)/basketry $(COMPARE_OPTIONS)

.PHONY: studies
studies: build $(WHEEL_STAMP) ## the published studies, repeated beside ROOT: about two hours at SCALE=1 and 25 GB of disk (STUDY=names, default all)
	PYTHONPATH=.:tests:bench BASKETRY_BIN="$${BASKETRY_BIN:-$(CURDIR)/$(BIN)}" \
	  $(VENV)/bin/python studies/run.py --scale $(SCALE) $(addprefix --only ,$(STUDY)) $(STUDY_OPTIONS)

# The profile of the tests: only the texts of the command's help are asked for.
.PHONY: docs
docs: $(DOCS_STAMP) ## the documentation site, build/site, and manual pages, build/man; a bad link or anchor is an error
	$(MAKE) site PROFILE=tested

.PHONY: site
site: build
	BASKETRY_BIN="$${BASKETRY_BIN:-$(CURDIR)/$(BIN)}" NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --quiet --strict
	$(BIN) man build/man
	@echo "build/site/index.html"

.PHONY: fuzz
fuzz: export CARGO_PROFILE_RELEASE_LTO := off
fuzz: export CARGO_PROFILE_RELEASE_DEBUG := 1
fuzz: export CARGO_PROFILE_RELEASE_STRIP := false
fuzz: export CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS := true
fuzz: ## each fuzz target for SECONDS_EACH seconds (needs cargo-fuzz; the corpus gives seeds)
	cd fuzz && if [ -d $(CORPUS_FILES) ]; then cargo run --quiet --release --example seeds -- $(CORPUS_FILES); fi
	cd fuzz && for target in $$(cargo fuzz list); do \
	  cargo fuzz run -s none --features libfuzzer "$$target" -- \
	    -max_total_time=$(SECONDS_EACH) -rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=20 -max_len=20000; \
	done

$(TEST_STAMP): tests/requirements.txt
	[ -x $(VENV)/bin/python ] || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

# Built in the command's target folder, so that both share crates. One wheel is installed, of the last profile.
$(WHEEL_STAMP): $(TEST_STAMP) pyproject.toml Cargo.lock $(shell find crates python -name '*.rs' -o -name '*.toml' -o -name '*.py*')
	rm -rf build/wheels && $(MAKE) wheel
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheels/*.whl
	rm -f $(VENV)/.basketry-wheel-*.stamp
	touch $@

$(DOCS_STAMP): docs/requirements.txt
	[ -x $(DOCS_VENV)/bin/python ] || $(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(ZIG_STAMP): packaging/requirements-wheels.txt
	[ -x $(ZIG_VENV)/bin/python ] || $(PYTHON) -m venv $(ZIG_VENV)
	$(ZIG_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(DEMO_STAMP): demo/requirements.txt
	[ -x $(DEMO_VENV)/bin/python ] || $(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(DEMO_INPUT): demo/make_input.py $(DEMO_STAMP)
	$(DEMO_VENV)/bin/python demo/make_input.py $@
