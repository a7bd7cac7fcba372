#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Events per CPU second of the CTF reader, beside babeltrace2 -o dummy on the same trace (best of three).
# usage: read.sh [BUILD] [EVENTS]
set -eu
build=${1:-${KYMO_BUILD:-build}}
dir=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
trap 'rm -rf "$dir"' EXIT
events=$("$build/bench/bench_synthesize" "$dir/trace" "${2:-10000000}")

theirs=0
if command -v babeltrace2 >/dev/null; then
	theirs=$(for _ in 1 2 3; do
		/usr/bin/time -f '%U %S' -o "$dir/time" babeltrace2 "$dir/trace" -o dummy
		awk '{ print $1 + $2 }' "$dir/time"
	done | sort -n | head -1)
	awk -v n="$events" -v t="$theirs" 'BEGIN {
		printf "%-44s %7.3f CPU s %8.1f M events/s\n", "babeltrace2 -o dummy", t, n / t / 1e6 }'
fi
for way in skip bound all; do
	for _ in 1 2 3; do
		"$build/bench/bench_read" "$dir/trace" $way
	done | awk '{ print $2 }' | sort -n | head -1 | awk -v way=$way -v n="$events" -v theirs="$theirs" '
		BEGIN { text["skip"] = "pass over every event"; text["bound"] = "callback events given, the rest passed over"
			text["all"] = "every event given, merged by time" }
		{ printf "%-44s %7.3f CPU s %8.1f M events/s", text[way], $1, n / $1 / 1e6
		  if (theirs > 0) printf "  %5.1f x", theirs / $1
		  printf "\n" }'
done
