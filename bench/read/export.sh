#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Events per second, bytes per event and memory of its own (without the mapped trace) of
# `kymo export --format perfetto` for growing traces; then of the encoding alone, beside that of cactus_rt.
# usage: export.sh [BUILD] [EVENTS...]
set -eu
build=${1:-${KYMO_BUILD:-build}}
[ $# -eq 0 ] || shift
dir=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
trap 'rm -rf "$dir"' EXIT

measure() {	# EVENTS LEVEL: CPU seconds (best of three), bytes, peak of anonymous memory
	for _ in 1 2 3; do
		/usr/bin/time -f '%U %S' -o "$dir/time" "$build/bin/kymo" export -q --force "$dir/trace" \
			--compress "$2" -o "$dir/out"
		cat "$dir/time"
	done | sort -n | head -1 >"$dir/best"
	# The limit counts what is allocated; the trace is mapped from its files and does not count.
	limit=1
	until (ulimit -d $((limit * 1024)) && "$build/bin/kymo" export -q --force "$dir/trace" \
	       --compress "$2" -o "$dir/out") 2>/dev/null; do
		limit=$((limit * 2))
	done
	awk -v n="$1" -v level="$2" -v size="$(stat -c %s "$dir/out")" -v limit="$limit" '{
		cpu = $1 + $2; if (cpu < 0.01) cpu = 0.01
		printf "--compress %-5s %11d events  %7.2f CPU s  %6.2f M events/s  %6.2f bytes/event  within %d MiB\n",
		       level, n, cpu, n / cpu / 1e6, size / n, limit }' "$dir/best"
}

for events in ${*:-1000000 10000000}; do
	rm -rf "$dir/trace"
	count=$("$build/bench/bench_synthesize" "$dir/trace" "$events")
	for level in none 1 6; do
		measure "$count" "$level"
	done
done
for events in ${*:-1000000 10000000}; do
	"$build/bench/bench_perfetto" "$events"
done
