#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything: installs what is missing, builds with gcc and clang with warnings as errors, runs
# the suite as it is, with ASan + UBSan, and with TSan. The last line counts over all runs.
#
#   ./test.sh                all runs
#   ./test.sh gcc thread     only these of: gcc clang address thread
#   KYMO_TEST_DIR=DIR        where to build; default build-test below the checkout
set -u
cd "$(dirname "$0")" || exit 1
packaging/install-packages.sh build test || exit 1

base=${KYMO_TEST_DIR:-$PWD/build-test}
jobs=$(nproc)
passed=0 failed=0 skipped=0
mkdir -p "$base"

# Without address space randomization, where that is allowed: the thread sanitizer of gcc 12 does
# not start on kernels that randomize more bits than it knows.
fixed=
setarch "$(uname -m)" -R true 2>/dev/null && fixed="setarch $(uname -m) -R"

# build NAME CMAKE-ARGUMENT... A build that fails counts as one failed test.
build() {
	local name=$1
	shift
	echo "== $name: build"
	if { cmake -S . -B "$base/$name" -DKYMO_WERROR=ON "$@" &&
	     cmake --build "$base/$name" -j"$jobs"; } >"$base/$name.log" 2>&1; then
		passed=$((passed + 1))
		return 0
	fi
	grep -E -A5 'error|Error|warning' "$base/$name.log" | head -60
	echo "the whole log: $base/$name.log"
	failed=$((failed + 1))
	return 1
}

# Counts the results as ctest wrote them into a JUnit file.
count() {
	local junit=$1 total bad idle
	total=$(grep -o '<testcase ' "$junit" | wc -l)
	bad=$(grep -c 'status="fail"' "$junit")
	idle=$(grep -c 'status="\(notrun\|disabled\)"' "$junit")
	passed=$((passed + total - bad - idle))
	failed=$((failed + bad))
	skipped=$((skipped + idle))
	[ "$total" -gt 0 ]
}

suite() {
	local name=$1
	echo "== $name: test"
	rm -f "$base/$name.xml"
	# Two at a time: some tests run several processes that must make progress together.
	$fixed ctest --test-dir "$base/$name" -j2 --output-on-failure --no-tests=error \
		--output-junit "$base/$name.xml"
	[ -f "$base/$name.xml" ] && count "$base/$name.xml" && return
	echo "no test ran"
	failed=$((failed + 1))
}

run_gcc() {
	build gcc -DCMAKE_C_COMPILER=gcc && suite gcc
}

run_clang() {
	build clang -DCMAKE_C_COMPILER=clang
}

run_address() {
	export ASAN_OPTIONS=abort_on_error=0:detect_stack_use_after_return=1
	export UBSAN_OPTIONS=print_stacktrace=1
	build address -DCMAKE_C_COMPILER=gcc -DKYMO_SANITIZE=address,undefined -DKYMO_BENCH=OFF &&
		suite address
}

run_thread() {
	export TSAN_OPTIONS=second_deadlock_stack=1
	build thread -DCMAKE_C_COMPILER=gcc -DKYMO_SANITIZE=thread -DKYMO_BENCH=OFF && suite thread
}

for run in ${*:-gcc clang address thread}; do
	case $run in
	gcc | clang | address | thread) "run_$run" ;;
	*) echo "unknown run '$run'; there are: gcc clang address thread" >&2; exit 2 ;;
	esac
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
