# SPDX-License-Identifier: Apache-2.0
# The front door. CMake does the work; without its help: cmake -S . -B build && cmake --build build
#
#   make                          build into build/
#   make check                    run the quick tests, in less than a minute: units, rooms, style, command line, manual
#   make test                     run every test of that build
#   make test TESTS=unit/base     run the tests whose name matches
#   make seeds                    run what docs/comparison/seeds.md names; ROWS="B7 E": only these; ROS=/opt/ros/jazzy: with ROS 2's programs
#   make bench                    run the benchmarks; BENCH="event read": only these
#   make fuzz                     run the fuzzers, FUZZ_SECONDS each
#   make install PREFIX=/usr DESTDIR=/tmp/x
#   make uninstall DESTDIR=/tmp/x  remove what the last "make install" put there
#   make clean
#
#   CC=clang  SANITIZE=address,undefined  WERROR=1  BUILD=other-directory
BUILD ?= build
PREFIX ?= /usr/local
SANITIZE ?=
WERROR ?=
TESTS ?= .
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc)

MAKEFLAGS += --no-print-directory

# make's built-in CC is "cc"; only a CC of the user is passed on.
ifneq ($(origin CC),default)
compiler = -DCMAKE_C_COMPILER=$(CC)
endif

all: $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) -j$(JOBS)

# Options that changed reach an existing build directory as well.
$(BUILD)/CMakeCache.txt: FORCE
	@cmake -S . -B $(BUILD) $(compiler) -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
		-DKYMO_SANITIZE=$(SANITIZE) -DKYMO_WERROR=$(if $(WERROR),ON,OFF) $(options) >$(BUILD).log 2>&1 || \
		{ cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

# The loader finds libkymo once ldconfig has run: here, if it may; else it says what is left to do.
install: all
	@cmake --install $(BUILD)
	@if [ -n "$(DESTDIR)" ]; then :; \
	elif ! PATH=$$PATH:/sbin:/usr/sbin ldconfig -N -v 2>/dev/null | grep -q '^$(PREFIX)/lib'; then \
		echo "$(PREFIX)/lib is not searched by the loader: set LD_LIBRARY_PATH, or add it to /etc/ld.so.conf.d"; \
	elif [ "$$(id -u)" = 0 ]; then \
		PATH=$$PATH:/sbin:/usr/sbin ldconfig; \
	else \
		echo "programs find libkymo after: sudo ldconfig"; \
	fi

# Folders that others may use, too, stay.
uninstall:
	@test -f $(BUILD)/install_manifest.txt || { echo "nothing was installed from $(BUILD)"; exit 1; }
	@{ cat $(BUILD)/install_manifest.txt; echo; } | while read -r file; do \
		[ -z "$$file" ] || rm -f "$(DESTDIR)$$file"; \
		case $$file in */kymo/*) rmdir --ignore-fail-on-non-empty "$(DESTDIR)$${file%/*}" 2>/dev/null;; esac; \
	done; rm -f $(BUILD)/install_manifest.txt

# A build directory that was configured without tests or benchmarks (demo.sh does so) gets them here.
check test bench seeds: options = -DKYMO_TESTS=ON -DKYMO_BENCH=ON

check: all
	@ctest --test-dir $(BUILD) -j$(JOBS) --output-on-failure --no-tests=error -L '^(unit|quick)$$'

test: all
	@ctest --test-dir $(BUILD) -j$(JOBS) --output-on-failure --no-tests=error -R '$(TESTS)'

seeds: all
	@KYMO_BUILD=$(abspath $(BUILD)) tests/system/house/seeds.py --run $(if $(ROS),--ros $(ROS)) $(ROWS)

bench: all
	@bench/run.sh $(BUILD) $(BENCH)

fuzz:
	@tests/fuzz/run.sh $(FUZZ_SECONDS)

clean:
	rm -rf $(BUILD)

FORCE:
.PHONY: all install uninstall check test bench seeds fuzz clean FORCE
