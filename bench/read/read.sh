#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The CTF reader beside babeltrace2 -o dummy, its text output, and Python's bt2 with fields: on the same trace, one after
# the other in each round, so that what else the machine does hits all of them. All files are
# in the page cache. Wall clock: median and range over the rounds; CPU: median, of all threads.
# usage: read.sh [BUILD] [EVENTS]     default 20 M events, in 16 streams and again in 128
#                                  then with 2 000 event classes
#        read.sh BUILD growth [MOST]  time and memory for 1, 10, 100 M events (about 3 GB on disk while it runs)
set -eu
build=${1:-${KYMO_BUILD:-build}}
here=$(dirname "$(realpath "$0")")
what=${2:-20000000}
dir=$(mktemp -d "${TMPDIR:-/tmp}/kymo-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT
rounds=${ROUNDS:-5}

# run NAME COMMAND...: adds "wall CPU KiB" to $dir/NAME
run() {
	local begin end name=$1
	shift
	begin=$(date +%s%N)
	"$build/bench/bench_usage" "$dir/usage" "$@" >"$dir/output" 2>/dev/null
	end=$(date +%s%N)
	awk -v ns=$((end - begin)) '{ print ns / 1e9, $1 + $2, $3 }' "$dir/usage" >>"$dir/$name"
}

# median NAME COLUMN
median() {
	sort -n -k "$2,$2" "$dir/$1" | awk -v c="$2" '{ t[NR] = $c } END { print t[int((NR + 1) / 2)] }'
}

# line TEXT NAME EVENTS PEER: what $dir/NAME holds, and how many times PEER took
line() {
	sort -n "$dir/$2" | awk -v text="$1" -v n="$3" -v cpu="$(median "$2" 2)" \
		-v peer="$(median "$4" 1)" -v peer_cpu="$(median "$4" 2)" '
		{ t[NR] = $1; if ($3 > kib) kib = $3 }
		END { m = t[int((NR + 1) / 2)]
		      printf "%-40s wall %7.3f s (%.3f-%.3f) %6.1f x   CPU %7.3f s %6.1f x %7.2f M/s %6.1f MiB\n", text, m,
			     t[1], t[NR], peer / m, cpu, peer_cpu / cpu, n / cpu / 1e6, kib / 1024 }'
}

# compare TITLE PROGRAM ARGUMENT...: PROGRAM DIR EVENTS ARGUMENT... writes the trace
compare() {
	local trace=$dir/trace small=$dir/small title=$1 program=$build/bench/$2 events few i way
	shift 2
	events=$("$program" "$trace" "$what" "$@")
	few=$("$program" "$small" $((what / 40)) "$@")
	cat "$trace"/* >/dev/null 2>&1 || true
	printf '\n%s events in %s\n' "$events" "$title"
	rm -f "$dir"/*.t
	for i in $(seq "$rounds"); do
		run dummy.t babeltrace2 "$trace" -o dummy
		for way in skip bound all; do
			run $way.1.t "$build/bench/bench_read" "$trace" $way 1
			run $way.2.t "$build/bench/bench_read" "$trace" $way 2
		done
		run kymo_text.t "$build/bin/kymo" dump "$small"
		run kymo_json.t "$build/bin/kymo" dump --format json "$small"
		run text.t babeltrace2 "$small"
		[ ! "$bt2" ] || [ "$i" -gt 2 ] || run bt2.t /usr/bin/python3 "$here/read.py" "$small"
	done
	line 'babeltrace2 -o dummy' dummy.t "$events" dummy.t
	for i in 1 2; do
		line "pass over every event, threads: $i" skip.$i.t "$events" dummy.t
		line "callbacks given, the rest passed over, $i" bound.$i.t "$events" dummy.t
		line "every event given, merged by time, $i" all.$i.t "$events" dummy.t
	done
	echo "text, of $few events"
	line 'babeltrace2' text.t "$few" text.t
	line 'kymo dump' kymo_text.t "$few" text.t
	line 'kymo dump --format json' kymo_json.t "$few" text.t
	[ ! -f "$dir/bt2.t" ] || line 'Python bt2 with fields' bt2.t "$few" text.t
	rm -rf "$trace" "$small"
}

growth() {
	local most=${1:-100000000} events size way
	echo 'every event given in order, median of three; CPU of all threads, peak memory'
	for events in 1000000 10000000 100000000; do
		[ "$events" -le "$most" ] || continue
		# About 21 bytes an event.
		if [ "$(df -k --output=avail "$dir" | tail -1)" -lt $((events / 40)) ]; then
			echo "$((events / 1000000)) M events: left out, there is no room in $(dirname "$dir"); TMPDIR chooses another place"
			continue
		fi
		rm -rf "$dir/grow"
		"$build/bench/bench_synthesize" "$dir/grow" "$events" >/dev/null
		size=$(du -sm "$dir/grow" | cut -f1)
		for way in 1 2; do
			rm -f "$dir/grow.t"
			for _ in 1 2 3; do
				run grow.t "$build/bench/bench_read" "$dir/grow" all $way
			done
			awk -v n="$events" -v mb="$size" -v way=$way -v cpu="$(median grow.t 2)" '$3 > kib { kib = $3 } END {
				printf "%4d M events %5d MB  threads %d  %7.3f CPU s  %6.2f ns per event  %6.1f MiB\n",
				       n / 1e6, mb, way, cpu, cpu / n * 1e9, kib / 1024 }' "$dir/grow.t"
		done
	done
}

if [ "$what" = growth ]; then
	growth "${3:-}"
	exit
fi
command -v babeltrace2 >/dev/null || { echo "babeltrace2 is not installed: there is nothing to compare with"; exit 77; }
bt2=$(/usr/bin/python3 -c 'import bt2' 2>/dev/null && echo yes) || true
compare '16 streams, and as many short ones' bench_synthesize 8
compare '128 streams, and as many short ones' bench_synthesize 64
compare '16 streams, of 2000 classes' bench_synthesize_ids 16 2000
echo
growth "${GROWTH:-100000000}"
