#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh [SECONDS [FUZZER...]] -- builds the fuzzers and runs each for SECONDS (default 60).
# What it finds interesting stays in build-fuzz/corpus/FUZZER, what crashes in build-fuzz/crash-*.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
build=${KYMO_FUZZ_DIR:-$PWD/build-fuzz}
source=$PWD

command -v clang >/dev/null || { echo "the fuzzers need clang" >&2; exit 1; }
mkdir -p "$build"
{ cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DKYMO_FUZZ=ON -DKYMO_TESTS=OFF -DKYMO_BENCH=OFF \
	-DKYMO_EXAMPLES=OFF -DKYMO_SANITIZE=fuzzer-no-link,address,undefined &&
	cmake --build "$build" -j"$(nproc)"; } >"$build/build.log" 2>&1 ||
	{ tail -30 "$build/build.log"; exit 1; }

cd "$build"
failed=0
for program in fuzz/*; do
	name=$(basename "$program")
	[ -f "$program" ] && [ -x "$program" ] || continue
	case " ${*:-$name} " in
	*" $name "*) ;;
	*) continue ;;
	esac
	seeds=$source/tests/fuzz/seeds/$name
	mkdir -p "corpus/$name"
	printf '%-10s %s s ... ' "$name" "$seconds"
	if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=32768 \
		-print_final_stats=1 -verbosity=0 "corpus/$name" $([ ! -d "$seeds" ] || echo "$seeds") >"$name.log" 2>&1; then
		sed -n 's/^stat::number_of_executed_units: */inputs: /p' "$name.log"
	else
		echo "FOUND SOMETHING:"
		grep -E -A12 'ERROR|SUMMARY|runtime error' "$name.log" | head -40 || tail -20 "$name.log"
		failed=$((failed + 1))
	fi
done
[ "$failed" -eq 0 ] || { echo "$failed fuzzers found something: see $build/crash-*" >&2; exit 1; }
