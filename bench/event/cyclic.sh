#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What tracing costs a 1 kHz SCHED_FIFO loop (examples/cyclic, 10 events in its measured part).
# usage: cyclic.sh [BUILD]    BENCH_RUNS rounds (7) of BENCH_SECONDS (3) each
# Three kinds in turn, the same program: nobody records; recorded; and with the least in the place
# of libkymo, which reads the clock and stores as many bytes in every event. Differences are taken
# within a round, so that other load meets both sides.
set -eu
build=$(realpath "${1:-${KYMO_BUILD:-build}}")
runs=${BENCH_RUNS:-7} seconds=${BENCH_SECONDS:-3}
cyclic=$build/cyclic/cyclic
events=10
if ! chrt -f 80 true 2>/dev/null; then
	echo "skipped: SCHED_FIFO is not permitted (CAP_SYS_NICE, or a limit in /etc/security/limits.conf)"
	exit 77
fi
scratch=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
mkdir -m 700 "$scratch/run"
export KYMO_DIR=$scratch/run
# The loop on the last CPU, the recorder on the others.
last=$(($(nproc) - 1))
loop=() record=()
if [ "$last" -gt 0 ]; then
	loop=(taskset -c "$last") record=(taskset -c "0-$((last - 1))")
fi

once() {	# KIND: its lines "wake-up" and "duration", with the kind in front
	case $1 in
	off) "${loop[@]}" "$cyclic" --seconds "$seconds" ;;
	clock) LD_LIBRARY_PATH=$build/bench/clock "${loop[@]}" "$cyclic" --seconds "$seconds" ;;
	on)
		"${record[@]}" "$build/bin/kymo" record --quiet -o "$scratch/trace" -- "${loop[@]}" "$cyclic" --seconds "$seconds"
		python3 -c 'import json, sys; t = json.load(open(sys.argv[1]))["totals"]
lost = t["dropped"] + t["unwritten"]
if lost: sys.exit("cyclic.sh: %d events were lost: the numbers do not count" % lost)' "$scratch/trace/kymo.json" >&2
		rm -rf "$scratch/trace"
		;;
	esac | sed -n "s/^\(wake-up\|duration\) /$1 \1 /p"
}

for round in $(seq "$runs"); do
	for kind in off clock on; do
		once "$kind" | sed "s/^/$round /" >>"$scratch/rows"
	done
done

python3 - "$scratch/rows" "$("${loop[@]}" "$build/bench/bench_clock")" "$events" "$runs" "$seconds" <<'PY'
import statistics, sys
path, read, events, runs, seconds = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
columns, got = ("p50", "p99", "p99.9", "max"), {}
for line in open(path):
    round_, kind, what, *values = line.split()
    for column, value in zip(columns, values):
        got.setdefault((what, kind, column), []).append((1000 if what == "duration" else 1) * float(value))
names = {"off": "nobody records", "clock": "clock read + store", "on": "recorded"}
cell = lambda v: f"{statistics.median(v):.0f} ({min(v):.0f}..{max(v):.0f})"
print(f"median of {runs} runs of {seconds} s (least..most)")
for what, unit in (("duration", "ns"), ("wake-up", "us")):
    print(f"{what + ', ' + unit:34}" + "".join(f"{c:>22}" for c in columns))
    for kind in names:
        print(f"  {names[kind]:32}" + "".join(f"{cell(got[what, kind, c]):>22}" for c in columns))
    for kind in ("clock", "on"):
        print(f"  {names[kind] + ' - nobody records':32}" + "".join(
            f"{cell([a - b for a, b in zip(got[what, kind, c], got[what, 'off', c])]):>22}" for c in columns))
print(f"{events} events a cycle; {events} bare clock reads: {events * read:.0f} ns warm, twice that {2 * events * read:.0f} ns")
PY
