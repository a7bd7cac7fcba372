#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# kymo dump prints what babeltrace2 prints, line by line, on every trace at hand.
. "$KYMO_SOURCE/tests/system/lib/libtest.sh"

command -v babeltrace2 >/dev/null || { echo "skipped: babeltrace2 is not installed"; exit 77; }
data=$KYMO_SHARED/data
fixture=$KYMO_SOURCE/tests/fixtures/lifecycle

compare() {
	babeltrace2 "$1" >"$scratch/theirs" 2>/dev/null || fail "babeltrace2 cannot read $1"
	"$kymo" dump "$1" >"$scratch/ours" 2>"$scratch/err" || fail "kymo dump $1 failed"
	cmp -s "$scratch/theirs" "$scratch/ours" && return
	fail "$1: dump differs from babeltrace2 in $(diff "$scratch/theirs" "$scratch/ours" | grep -c '^<') lines:"
	diff "$scratch/theirs" "$scratch/ours" | head -6 >&2
}

compare "$fixture"
TZ=Asia/Kolkata compare "$fixture"
if existing "$data"; then
	for metadata in $(find "$data" -name metadata); do
		compare "$(dirname "$metadata")"
	done
	! existing "$data/ros2-traces/streamed_relayd" || compare "$data/ros2-traces/streamed_relayd"
	# Two traces of one machine, merged by time. Where two events have the same time, either order is right.
	babeltrace2 "$data/ros2-traces/pair_intra/ctf" "$data/ros2-traces/pair_lifecycle/ctf" 2>/dev/null |
		sed 's/(+[^)]*)//' | sort >"$scratch/theirs"
	mkdir "$scratch/two"
	ln -s "$data/ros2-traces/pair_intra/ctf/ust/uid/0/64-bit" "$scratch/two/a"
	cp -r "$data/ros2-traces/pair_intra/ctf" "$scratch/two/b"
	cp -r "$data/ros2-traces/pair_lifecycle/ctf" "$scratch/two/c"
	chmod -R u+w "$scratch/two"
	run 0 "$kymo" dump --merge "$scratch/two"	# the link is not followed: each trace once
	sed 's/(+[^)]*)//' "$scratch/out" | sort | cmp -s - "$scratch/theirs" || fail "two merged traces differ"
	cut -c1-20 "$scratch/out" | sort -c 2>/dev/null || fail "two merged traces are not in order of time"
fi

# What is chosen is a part of the whole.
"$kymo" dump "$fixture" | sed 's/(+[^)]*)//' >"$scratch/all"
run 0 "$kymo" dump "$fixture" --event 'ros2:callback_*' --event ros2:rcl_init
sed 's/(+[^)]*)//' "$scratch/out" | cmp -s - <(grep -E 'ros2:(callback_|rcl_init:)' "$scratch/all") ||
	fail "--event chooses something else than grep"
run 0 "$kymo" dump "$fixture" -n 7
[ "$(wc -l <"$scratch/out")" -eq 7 ] || fail "-n 7 printed $(wc -l <"$scratch/out") lines"
run 0 "$kymo" dump "$fixture" --begin +0.2s --end +0.21s
sed 's/(+[^)]*)//' "$scratch/out" >"$scratch/part"
[ -s "$scratch/part" ] || fail "nothing between +0.2s and +0.21s"
grep -Fxf "$scratch/part" "$scratch/all" | cmp -s - "$scratch/part" || fail "the window holds other events"
run 2 "$kymo" dump "$fixture" --begin +2s --end +1s
has err 'is before --begin'
run 6 "$kymo" dump "$fixture" --event nope
has err 'no event matches --event'
run 6 "$kymo" dump "$fixture" --begin +1h
has err 'between --begin and --end'
run 2 "$kymo" dump "$fixture" --begin yesterday
has err "invalid time 'yesterday'"

# JSON: one valid object a line, as many as events.
run 0 "$kymo" dump "$fixture" --format json
python3 - "$scratch/out" "$(wc -l <"$scratch/all")" <<'PY' || fail "JSON is not what it should be"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert len(rows) == int(sys.argv[2]), len(rows)
assert rows[0]['name'] == 'ros2:rcl_init' and rows[0]['fields']['version'] == '8.2.2', rows[0]
assert rows[0]['context']['vpid'] == 19029 and rows[0]['packet'] == {'cpu_id': 1}
assert all(a['ts_ns'] <= b['ts_ns'] for a, b in zip(rows, rows[1:]))
assert any(isinstance(r['fields'].get('gid'), list) and len(r['fields']['gid']) == 24 for r in rows)
PY
finish
