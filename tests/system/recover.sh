#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recorder and program are killed: what the program had in shared memory is recovered, once.
set -eu
kymo=$KYMO_BUILD/bin/kymo
work=$(mktemp -d /dev/shm/kymo-recover-XXXXXX)
export KYMO_DIR=$work/run
trap 'kill -9 $program $bystander 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
program= bystander=

fail() {
	echo "recover.sh: $*" >&2
	exit 1
}
wait_for() {
	for _ in $(seq 200); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	fail "never happened: $*"
}

# Nothing there: says so.
status=0
"$kymo" recover -o "$work/none" 2>"$work/err" || status=$?
[ $status = 6 ] || fail "nothing to recover: status $status"
[ ! -e "$work/none" ] || fail "a trace without any event is left"

"$kymo" run -- "$KYMO_BUILD/tests/numbers" --threads 1 --rate 2000 --seconds 60 "$work/n" &
program=$!
"$kymo" run -- "$KYMO_BUILD/tests/numbers" --rate 10 --seconds 60 "$work/other" &
bystander=$!
"$kymo" record --quiet -o "$work/first" 2>/dev/null &
recorder=$!
wait_for sh -c "'$kymo' status --format csv | grep -c ',record,alive' | grep -q 2"
sleep 0.3
kill -9 $recorder; wait $recorder 2>/dev/null || true
sleep 0.5			# about a thousand events that nobody reads
kill -9 $program
wait $program 2>/dev/null || true

"$kymo" recover --strict -o "$work/second" 2>"$work/err" || fail "$(cat "$work/err")"
for trace in first second; do
	babeltrace2 "$work/$trace" >"$work/$trace.text" 2>"$work/warnings" || fail "$(cat "$work/warnings")"
	[ ! -s "$work/warnings" ] || fail "babeltrace2 warns: $(cat "$work/warnings")"
done
# The program noted the last number whose call had returned.
python3 - "$work" <<'PY' || fail "the numbers do not add up"
import re, struct, sys
work = sys.argv[1]
pid = max(re.findall(r'vpid = (\d+)', open(work + '/second.text').read()))
def numbers(name):
    return [int(m[1], 16) for m in (re.search(r'vpid = %s\b.*ros2:rcl_publish|rcl_publish.*vpid = %s\b.*message = (0x[0-9A-F]+)'
            % (pid, pid), line) for line in open('%s/%s.text' % (work, name))) if m and m[1]]
first, second = numbers('first'), numbers('second')
last = struct.unpack('Q', open(work + '/n', 'rb').read(8))[0]
assert second == list(range(second[0], second[-1] + 1)), ('a gap', second[:5], second[-5:], len(second))
assert second[-1] >= last, (second[-1], last)
assert len(second) > 300, len(second)
# At most one packet stands in both: the recorder died before it could say that it was written.
assert second[0] <= first[-1] + 1, (first[-1], second[0])
PY
grep -q 'ros2:rcl_init' "$work/second.text" || fail "the init log is not there"

# It is gone now; who lives was left alone.
status=0
"$kymo" recover -o "$work/third" 2>"$work/err" || status=$?
[ $status = 6 ] || fail "recovered twice: $(cat "$work/err")"
kill -0 $bystander || fail "the bystander died"
"$kymo" status --format csv | grep -q ',record,alive' || fail "the bystander's state was changed"
