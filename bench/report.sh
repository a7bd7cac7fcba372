#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Events per second and peak memory of `kymo report` for growing traces, beside babeltrace2 -o dummy.
# usage: report.sh [BUILD] [EVENTS...]
set -eu
build=${1:-${KYMO_BUILD:-build}}
[ $# -eq 0 ] || shift
dir=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
trap 'rm -rf "$dir"' EXIT

measure() {	# NAME EVENTS COMMAND...: CPU seconds (best of three), peak memory
	what=$1 count=$2
	shift 2
	for _ in 1 2 3; do
		/usr/bin/time -f '%U %S %M' -o "$dir/time" "$@" >/dev/null 2>&1
		cat "$dir/time"
	done | sort -n | head -1 | awk -v what="$what" -v n="$count" '{
		cpu = $1 + $2; if (cpu < 0.01) cpu = 0.01
		printf "%-22s %11d events  %7.2f CPU s  %8.2f M events/s  %7.1f MiB\n", what, n, cpu, n / cpu / 1e6, $3 / 1024 }'
}

for events in ${*:-1000000 10000000}; do
	rm -rf "$dir/trace"
	count=$("$build/bench/bench_synthesize" "$dir/trace" "$events")
	measure "kymo report" "$count" "$build/bin/kymo" report "$dir/trace"
	if command -v babeltrace2 >/dev/null; then
		measure "babeltrace2 -o dummy" "$count" babeltrace2 "$dir/trace" -o dummy
	fi
done
