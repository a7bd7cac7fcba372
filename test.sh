#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything: installs what is missing, builds with gcc with warnings as errors, lets clang check every file likewise, runs
# the suite as it is, with ASan + UBSan, and with TSan. The last line counts over all runs.
#
# A test that fails is run once more, alone, when all others are done: a machine that others use starves a test
# now and then. What passes only then is listed in DIR/second-try.txt and above the last line. It needs mending, and
# more than two such tests fail the run. Above the last line is also why tests were skipped.
#
# While suites run, the builds of later runs are made.
#
#   ./test.sh                all runs
#   ./test.sh gcc thread     only these of: gcc address thread clang
#   KYMO_TEST_DIR=DIR        where to build; default build-test below the checkout
set -u
cd "$(dirname "$0")" || exit 1
packaging/install-packages.sh build test || exit 1

base=${KYMO_TEST_DIR:-$PWD/build-test}
jobs=$(nproc)
passed=0 failed=0 skipped=0
mkdir -p "$base"
rm -f "$base"/*.status
: >"$base/second-try.txt"
: >"$base/skipped.txt"

# Without address space randomization, where that is allowed: the thread sanitizer of gcc 12 does
# not start on kernels that randomize more bits than it knows.
fixed=
setarch "$(uname -m)" -R true 2>/dev/null && fixed="setarch $(uname -m) -R"

# The CMake options of each run. clang only checks the files, for its warnings. Only the first build is linked as a user's is:
# the other linker takes half of the time.
gold=-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold
declare -A options=(
	[gcc]="-DCMAKE_C_COMPILER=gcc"
	[clang]="-DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0"
	[address]="-DCMAKE_C_COMPILER=gcc -DKYMO_SANITIZE=address,undefined -DKYMO_BENCH=OFF $gold"
	[thread]="-DCMAKE_C_COMPILER=gcc -DKYMO_SANITIZE=thread -DKYMO_BENCH=OFF $gold"
)

# compile NAME: the log is DIR/NAME.log, the exit status stands in DIR/NAME.status when it is done.
compile() {
	local make=(cmake --build "$base/$1" -j"$jobs")
	[ "$1" != clang ] || make=(tests/clang_warnings.py "$base/$1")
	rm -f "$base/$1.status"
	grep -qs '^CMAKE_GENERATOR:INTERNAL=Ninja' "$base/$1/CMakeCache.txt" || rm -rf "${base:?}/$1"
	# Make needs 20 s of a CPU more than Ninja for each build.
	# shellcheck disable=SC2086 # options are words
	{ cmake -G Ninja -S . -B "$base/$1" -DKYMO_WERROR=ON ${options[$1]} && "${make[@]}"; } >"$base/$1.log" 2>&1
	echo $? >"$base/$1.status"
}

# While the first suite runs, the builds of the other runs are made in the background, one after the other.
ahead=
build_ahead() {
	[ -z "$ahead" ] || return
	{
		renice -n 10 "$BASHPID" >/dev/null
		for name in $runs; do
			[ "$name" = "$1" ] || compile "$name"
		done
	} &
	ahead=$!
}

# build NAME: makes the build, or waits until it is made. A build that fails counts as one failed test.
build() {
	local name=$1
	echo "== $name: build"
	[ -n "$ahead" ] || compile "$name"
	until [ -s "$base/$name.status" ]; do
		kill -0 "$ahead" || break
		sleep 1
	done
	if [ "$(cat "$base/$name.status")" = 0 ]; then
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
	$fixed ctest --test-dir "$base/$name" --output-on-failure --no-tests=error --test-output-size-passed 1000000 \
		--output-junit "$junit" "$@"
	[ -f "$junit" ]
}

suite() {
	local name=$1 bad parallel=2
	build_ahead "$name"
	echo "== $name: test"
	# Two tests at a time for each CPU: most tests wait for something most of the time. Three when the builds are made.
	kill -0 "$ahead" 2>/dev/null || parallel=3
	if ! run_tests "$name" "$name.xml" "-j$((parallel * jobs))" || [ "$(results "$base/$name.xml" run fail)" -eq 0 ]; then
		echo "no test ran"
		failed=$((failed + 1))
		return
	fi
	passed=$((passed + $(results "$base/$name.xml" run)))
	skipped=$((skipped + $(results "$base/$name.xml" notrun disabled)))
	python3 tests/system/lib/lib_skips.py "$base/$name.xml" >>"$base/skipped.txt"
	bad=$(results "$base/$name.xml" fail)
	[ "$bad" -gt 0 ] || return
	echo "== $name: what failed, once more"
	if run_tests "$name" "$name-again.xml" --rerun-failed; then
		passed=$((passed + $(results "$base/$name-again.xml" run)))
		bad=$(results "$base/$name-again.xml" fail)
		names "$base/$name-again.xml" | sed "s|^|$name:|" >>"$base/second-try.txt"
	fi
	failed=$((failed + bad))
}

run_gcc() {
	build gcc && suite gcc
}

run_clang() {
	build clang
}

run_address() {
	# SIGILL is what a check for undefined behaviour raises.
	export ASAN_OPTIONS=abort_on_error=0:detect_stack_use_after_return=1:handle_sigill=1
	build address && suite address
}

run_thread() {
	# Libraries that were built without it are not its business.
	export TSAN_OPTIONS=second_deadlock_stack=1:ignore_noninstrumented_modules=1
	build thread && suite thread
}

runs=${*:-gcc address thread clang}
for run in $runs; do
	[ -n "${options[$run]:-}" ] || { echo "unknown run '$run'; there are: gcc address thread clang" >&2; exit 2; }
done

for run in $runs; do
	"run_$run"
done

if [ -s "$base/skipped.txt" ]; then
	echo "skipped, and why (a test counts once in each run):"
	sort "$base/skipped.txt" | uniq -c | sort -rn
fi
again=$(wc -l <"$base/second-try.txt")
if [ "$again" -gt 0 ]; then
	echo "passed at the second try only ($base/second-try.txt):"
	cat "$base/second-try.txt"
fi
if [ "$again" -gt 2 ]; then
	echo "more than two: they count as failed"
	passed=$((passed - again)) failed=$((failed + again))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
