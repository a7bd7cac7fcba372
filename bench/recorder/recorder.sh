#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the recorder costs and keeps up with. usage: recorder.sh [BUILD]
# One producer thread emits events of 8 B payload at 3 M/s, with the default ring (512 KiB, 9.7 ms of
# events) and with one of 4 MiB, then flat out. The recorder attaches, so its CPU time holds nothing
# of the producer's. The trace goes to memory (/dev/shm).
set -eu
build=$(realpath "${1:-${KYMO_BUILD:-build}}")
seconds=${BENCH_SECONDS:-3}
scratch=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
recorder=

cleanup() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
	rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# events TRACE: recorded and lost, from the trace's own loss accounting
events() {
	python3 -c 'import json, sys; t = json.load(open(sys.argv[1] + "/kymo.json"))["totals"]
print(t["recorded"], t["dropped"] + t["unwritten"])' "$1"
}

# measure NAME RATE [RING_SIZE [OPTION...]]
measure() {
	name=$1 rate=$2 ring_size=${3:-}
	shift $(($# < 3 ? $# : 3))
	export KYMO_DIR="$scratch/run-$name"
	mkdir -m 700 "$KYMO_DIR"
	"$build/bench/bench_usage" "$scratch/usage" "$build/bin/kymo" record -o "$scratch/trace-$name" "$@" \
		>"$scratch/record.log" 2>&1 &
	recorder=$!
	sleep 0.5
	KYMO_RING_SIZE=$ring_size LD_PRELOAD="$build/lib/libkymo-ros2.so" "$build/bench/bench_producer" "$rate" "$seconds" >"$scratch/emitted"
	sleep 0.3
	kill -INT "$recorder"
	wait "$recorder" || { cat "$scratch/record.log" >&2; exit 1; }
	recorder=
	events "$scratch/trace-$name" >"$scratch/events"
	cat "$scratch/emitted" "$scratch/events" "$scratch/usage" | tr '\n' ' ' | awk -v name="$name" '{
		cpu = $5 + $6
		printf "%-13s  emitted %.2f M/s  recorded %.2f M/s  lost %d (%.2f %%)  recorder CPU %.3f s",
			name, $1 / $2 / 1e6, $3 / $2 / 1e6, $4, 100 * $4 / $1, cpu
		printf "  %.0f M events per CPU-second  peak RSS %.0f MiB\n", $3 / cpu / 1e6, $7 / 1024
	}'
	rm -rf "$scratch/trace-$name" "$KYMO_DIR"
}

echo "recorder, $seconds s each; targets: >= 80 M events per CPU-second, none lost at 3 M/s"
measure 3M-per-s 3000000
measure 3M-per-s-4M 3000000 4M
measure flat-out 0
# With rules every record is looked at.
measure 3M-rules-4M 3000000 4M --node "!/nobody"
