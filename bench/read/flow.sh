#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What following every message costs: CPU time and peak memory of `kymo flow` for growing traces,
# as a ratio to `kymo report` on the same trace in the same run.
# usage: flow.sh [BUILD] [EVENTS...]
set -eu
export KYMO_CACHE=off
build=${1:-${KYMO_BUILD:-build}}
[ $# -eq 0 ] || shift
dir=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
trap 'rm -rf "$dir"' EXIT

measure() {	# COMMAND...: "CPU-seconds MiB", the best of three
	for _ in 1 2 3; do
		/usr/bin/time -f '%U %S %M' -o "$dir/time" "$@" >/dev/null 2>&1
		awk '{ print ($1 + $2 > 0.01 ? $1 + $2 : 0.01), $3 / 1024 }' "$dir/time"
	done | sort -n | head -1
}

for events in ${*:-1000000 10000000}; do
	rm -rf "$dir/trace"
	count=$("$build/bench/bench_synthesize" "$dir/trace" "$events" 16)
	report=$(measure "$build/bin/kymo" report "$dir/trace")
	flow=$(measure "$build/bin/kymo" flow "$dir/trace")
	named=$(measure "$build/bin/kymo" flow "$dir/trace" '/topic_3 -> /bench/listener')
	echo "$count $report $flow $named" | awk '{
		printf "%11d events: report %6.2f CPU s %6.1f MiB (%5.2f M events/s); ", $1, $2, $3, $1 / $2 / 1e6
		printf "flow %6.2f CPU s %6.1f MiB (%5.2f M events/s), %.2f x; ", $4, $5, $1 / $4 / 1e6, $4 / $2
		printf "a named chain %6.2f CPU s %6.1f MiB, %.2f x\n", $6, $7, $6 / $2 }'
done
