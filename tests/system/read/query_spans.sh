#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# Spans, instants and counters of programs as tables, beside what babeltrace2 reads.
. "$(dirname "$0")/../lib/libtest.sh"
KYMO_DIR=$(mktemp -d /dev/shm/kymo-query-XXXXXX)
export KYMO_DIR
trap 'rm -rf "$scratch" "$KYMO_DIR"' EXIT
cd "$scratch" || exit 1
run 0 "$kymo" record --quiet -o trace -- "$KYMO_BUILD/tests/user_events"
babeltrace2 trace >text 2>/dev/null || { echo "skipped: no babeltrace2 here"; exit 77; }

one() {	# SQL: its only value
	"$kymo" query -q trace --format csv "$1" | tail -n +2
}
same() {	# WHAT A B
	[ -n "$2" ] && [ "$2" = "$3" ] || fail "$1: '$2' and '$3'"
}
same "a row a span" "$(one 'SELECT count(*) FROM spans')" "$(grep -cE ':([a-z ]+_begin|begin): |: *[a-z]+:[^{]*begin' text)"
same "arguments" "$(one "SELECT json_extract(args, '\$.n') FROM spans WHERE name = 'outer'")" 1
same "arguments in turn" "$(one "SELECT group_concat(json_extract(args, '\$.i')) FROM spans WHERE name = 'inner'")" '"0,1"'
same "depth" "$(one "SELECT group_concat(DISTINCT depth) FROM spans WHERE name IN ('inner', 'outer')" | tr -d '"' | tr , '\n' | sort | tr -d '\n')" 01
same "nesting" "$(one "SELECT count(*) FROM spans a JOIN spans b ON a.thread_id = b.thread_id AND a.depth = b.depth + 1
	WHERE b.name = 'outer' AND a.name = 'inner' AND a.begin_ns >= b.begin_ns AND a.end_ns <= b.end_ns")" 2
same "self times" "$(one "SELECT count(*) FROM spans o WHERE o.name = 'outer' AND o.duration_ns - o.self_ns =
	(SELECT sum(i.duration_ns) FROM spans i WHERE i.depth = o.depth + 1 AND i.thread_id = o.thread_id AND i.begin_ns >= o.begin_ns AND i.end_ns <= o.end_ns)")" 1
same "instants" "$(one "SELECT count(*) FROM instants WHERE name = 'step' AND flow = 42 AND json_extract(args, '\$.flow') = 42")" \
	"$(grep -c 'test:step: ' text)"
same "counters" "$(one "SELECT value FROM counters WHERE name = 'load'")" 0.5
same "durations" "$(one 'SELECT count(*) FROM spans WHERE duration_ns <> end_ns - begin_ns OR duration_ns < 0')" 0
finish
