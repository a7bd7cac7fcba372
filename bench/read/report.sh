#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How the verbs of the analysis grow: CPU time and peak memory for traces of 1, 10 and 100 M events, and
# what both are per event and in relation to the smallest; babeltrace2 -o dummy beside them.
# PAIRS=1000: of 2,000 callbacks. GAPS=24: of a day in which nothing happens but in 25 short moments, an hour from each other.
# usage: report.sh [BUILD] [EVENTS...]		(about 25 bytes an event below TMPDIR, default /dev/shm)
set -eu
export KYMO_CACHE=off
build=${1:-${KYMO_BUILD:-build}}
[ $# -eq 0 ] || shift
dir=$(mktemp -d "${TMPDIR:-/dev/shm}/kymo-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT
kymo=$build/bin/kymo
# Longer runs differ less from each other.
runs() { [ "$1" -le 20000000 ] && echo 1 2 3 || echo 1; }

# NAME EVENTS COMMAND...: CPU seconds (best of the runs), peak memory, both beside those of the first size.
measure() {
	what=$1 count=$2
	shift 2
	for _ in $(runs "$count"); do
		/usr/bin/time -f '%U %S %M' -o "$dir/time" "$@" >/dev/null 2>&1 || { echo "$what failed: $*" >&2; exit 1; }
		cat "$dir/time"
	done | awk '{ cpu = $1 + $2; if (NR == 1 || cpu < best) { best = cpu; kib = $3 } } END { print best, kib }' >"$dir/best"
	grep -q "^$what	" "$dir/first" 2>/dev/null || printf '%s\t%s\t%s\n' "$what" "$count" "$(cat "$dir/best")" >>"$dir/first"
	awk -F'\t' -v what="$what" -v n="$count" -v now="$(cat "$dir/best")" '$1 == what {
		split($3, was, " "); split(now, is, " "); cpu = is[1] < 0.01 ? 0.01 : is[1]
		printf "%-22s %11d events %8.2f CPU s %7.1f ns/event %6.2f M/s   x%-6.1f of %.0f x events %7.1f MiB\n",
			what, n, cpu, cpu / n * 1e9, n / cpu / 1e6, cpu / (was[1] < 0.01 ? 0.01 : was[1]), n / $2, is[2] / 1024 }' "$dir/first"
}

for events in ${*:-1000000 10000000 100000000}; do
	if [ "$(df -k --output=avail "$dir" | tail -1)" -lt $((events / 40)) ]; then
		echo "$events events: left out, there is no room in $dir; TMPDIR chooses another place"
		continue
	fi
	rm -rf "$dir/trace"
	count=$("$build/bench/bench_synthesize" "$dir/trace" "$events" "${PAIRS:-4}" "${GAPS:-0}")
	measure "kymo info" "$count" "$kymo" info "$dir/trace"
	measure "kymo report" "$count" "$kymo" report "$dir/trace"
	export KYMO_CACHE=always XDG_CACHE_HOME="$dir"
	"$kymo" report "$dir/trace" >/dev/null
	measure "kymo report, again" "$count" "$kymo" report "$dir/trace"
	export KYMO_CACHE=off
	measure "kymo report --html" "$count" "$kymo" report "$dir/trace" --html --force -o "$dir/page.html"
	printf '%-22s %11d bytes\n' "  its file" "$(stat -c %s "$dir/page.html")"
	measure "kymo flow" "$count" "$kymo" flow "$dir/trace"
	measure "kymo query, count" "$count" "$kymo" query "$dir/trace" 'SELECT count(*), max(duration_ns) FROM callback_instances'
	measure "kymo events --node" "$count" "$kymo" list "$dir/trace" --node '*'
	command -v babeltrace2 >/dev/null && measure "babeltrace2 -o dummy" "$count" babeltrace2 "$dir/trace" -o dummy
	echo
done
