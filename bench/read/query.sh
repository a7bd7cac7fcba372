#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The same two questions to the same trace: kymo query, and Python with bt2 and pandas. Both must give
# the same answer. Then rows per second of whole tables. CPU time; kymo's is the best of three.
# usage: query.sh [BUILD] [EVENTS for Python] [EVENTS for the tables]
set -eu
export KYMO_CACHE=off
build=${1:-${KYMO_BUILD:-build}}
here=$(dirname "$(realpath "$0")")
kymo=$build/bin/kymo
dir=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
trap 'rm -rf "$dir"' EXIT

durations="SELECT callback_object, count(*), printf('%.3f', avg(duration_ns)), printf('%.3f', percentile(duration_ns, 99)),
	max(duration_ns) FROM callback_instances i JOIN processes p ON p.id = i.process_id
	GROUP BY p.pid, callback_object ORDER BY p.pid, callback_object"
latency="SELECT topic_name, count(*), printf('%.3f', avg(latency_ns)), max(latency_ns) FROM messages
	WHERE outcome = 'callback' GROUP BY topic_name ORDER BY topic_name"

cpu() {	# OUTPUT TIMES COMMAND...: CPU seconds and peak KiB of the best of TIMES runs
	local out=$1 times=$2
	shift 2
	for _ in $(seq "$times"); do
		/usr/bin/time -f '%U %S %M' -o "$dir/time" "$@" >"$out" 2>"$dir/err" || { cat "$dir/err" >&2; return 1; }
		awk '{ print $1 + $2, $3 }' "$dir/time"
	done | sort -n | head -1
}

events=$("$build/bench/bench_synthesize" "$dir/trace" "${2:-1000000}")
if /usr/bin/python3 -c 'import bt2, pandas' 2>/dev/null; then
	echo "the same answer from $events events, CPU s and peak memory:"
	for question in durations latency; do
		cpu "$dir/ours.csv" 3 "$kymo" query "$dir/trace" --format csv "${!question}" >"$dir/ours"
		tail -n +2 "$dir/ours.csv" >"$dir/ours.rows"
		cpu "$dir/theirs.rows" 1 "$here/../peers/pandas_query.py" "$question" "$dir/trace" >"$dir/theirs"
		cmp -s "$dir/ours.rows" "$dir/theirs.rows" || { echo "the answers differ:"; diff "$dir/ours.rows" "$dir/theirs.rows" | head; exit 1; }
		paste -d' ' "$dir/ours" "$dir/theirs" | awk -v q="$question" -v n="$events" '{
			if ($1 < 0.01) $1 = 0.01
			printf "%-10s kymo query %6.2f s %6.1f MiB   bt2 and pandas %7.2f s %7.1f MiB   %6.0f x\n",
			       q, $1, $2 / 1024, $3, $4 / 1024, $3 / $1 }'
	done
else
	echo "no comparison with Python: it needs python3-bt2 and python3-pandas"
fi

rm -rf "$dir/trace"
events=$("$build/bench/bench_synthesize" "$dir/trace" "${3:-10000000}")
echo
echo "whole tables of $events events, every column asked for:"
for table in callback_instances messages publish_instances; do
	rows=$("$kymo" query "$dir/trace" --format csv "SELECT count(*) FROM $table" | tail -1)
	cpu /dev/null 3 "$kymo" query "$dir/trace" --format csv "SELECT * FROM $table" >"$dir/csv"
	cpu /dev/null 3 "$kymo" query "$dir/trace" "SELECT count(*) FROM $table" >"$dir/count"
	paste -d' ' "$dir/csv" "$dir/count" | awk -v t="$table" -v rows="$rows" -v n="$events" '{
		printf "%-20s %9d rows   counted %5.2f s (%5.2f M rows/s, %5.1f M events/s)   all columns as CSV %6.2f s (%5.2f M rows/s)   %5.1f MiB\n",
		       t, rows, $3, rows / $3 / 1e6, n / $3 / 1e6, $1, rows / $1 / 1e6, $2 / 1024 }'
done
