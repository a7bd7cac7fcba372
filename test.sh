#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything: installs what is missing, builds with gcc and clang with warnings as errors, runs
# the suite as it is, with ASan + UBSan, and with TSan. The last line counts over all runs.
#
# What fails is run once more, alone, when all the rest is done: a machine that others use, too, starves a
# test now and then. What passes only then is named above the last line, and wants mending.
#
#   ./test.sh                all runs
#   ./test.sh gcc thread     only these of: gcc clang address thread
#   KYMO_TEST_DIR=DIR        where to build; default build-test below the checkout
set -u
cd "$(dirname "$0")" || exit 1
packaging/install-packages.sh build test || exit 1

base=${KYMO_TEST_DIR:-$PWD/build-test}
jobs=$(nproc)
passed=0 failed=0 skipped=0 second_try=
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

# results FILE STATUS... How many results of a JUnit file, as ctest writes it, are of these.
results() {
	local junit=$1 status sum=0
	shift
	for status; do
		sum=$((sum + $(grep -c "<testcase .*status=\"$status\"" "$junit")))
	done
	echo "$sum"
}

# names FILE: the tests of a JUnit file that passed.
names() {
	sed -n 's/.*<testcase name="\([^"]*\)".*status="run".*/\1/p' "$1"
}

# run_tests NAME FILE CTEST-ARGUMENT...
run_tests() {
	local name=$1 junit=$base/$2
	shift 2
	rm -f "$junit"
	$fixed ctest --test-dir "$base/$name" --output-on-failure --no-tests=error --output-junit "$junit" "$@"
	[ -f "$junit" ]
}

suite() {
	local name=$1 bad
	echo "== $name: test"
	# Two at a time: some tests run several processes that must make progress together.
	if ! run_tests "$name" "$name.xml" -j2 || [ "$(results "$base/$name.xml" run fail)" -eq 0 ]; then
		echo "no test ran"
		failed=$((failed + 1))
		return
	fi
	passed=$((passed + $(results "$base/$name.xml" run)))
	skipped=$((skipped + $(results "$base/$name.xml" notrun disabled)))
	bad=$(results "$base/$name.xml" fail)
	[ "$bad" -gt 0 ] || return
	echo "== $name: what failed, once more"
	if run_tests "$name" "$name-again.xml" --rerun-failed; then
		passed=$((passed + $(results "$base/$name-again.xml" run)))
		bad=$(results "$base/$name-again.xml" fail)
		second_try+=$(names "$base/$name-again.xml" | sed "s|^| $name:|" | tr -d '\n')
	fi
	failed=$((failed + bad))
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
	# Libraries that were built without it are not its business.
	export TSAN_OPTIONS=second_deadlock_stack=1:ignore_noninstrumented_modules=1
	build thread -DCMAKE_C_COMPILER=gcc -DKYMO_SANITIZE=thread -DKYMO_BENCH=OFF && suite thread
}

for run in ${*:-gcc clang address thread}; do
	case $run in
	gcc | clang | address | thread) "run_$run" ;;
	*) echo "unknown run '$run'; there are: gcc clang address thread" >&2; exit 2 ;;
	esac
done

[ -z "$second_try" ] || echo "passed at the second try only:$second_try"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
