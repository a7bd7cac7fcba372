#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# Recorder and program are killed: what the program had in shared memory is recovered, once.
. "$(dirname "$0")/../lib/libtest.sh"
work=$scratch
export KYMO_DIR=$work/run
trap 'kill -9 $program $bystander 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT
program= bystander=

# Nothing there: says so.
run 6 "$kymo" recover -o "$work/none"
[ ! -e "$work/none" ] || fail "a trace without any event is left"

"$kymo" run -- "$KYMO_BUILD/tests/numbers" --threads 1 --rate 2000 --seconds 600 "$work/n" &
program=$!
"$kymo" run -- "$KYMO_BUILD/tests/numbers" --rate 10 --seconds 600 "$work/other" &
bystander=$!
"$kymo" record --quiet -o "$work/first" 2>/dev/null &
recorder=$!
both_record() {
	[ "$("$kymo" status --format csv | grep -c ',record,alive')" = 2 ]
}
wait_for both_record
is_past() {	# COUNT: the program has noted so many events
	[ "$(noted "$work/n")" -gt "$1" ]
}
wait_for is_past 600
wait_for sh -c "ls '$work'/first/ust/*_0"		# some are written
kill -9 $recorder; wait $recorder 2>/dev/null || true
wait_for is_past $(($(noted "$work/n") + 1000))	# that nobody reads
kill -9 $program
wait $program 2>/dev/null || true

run 0 "$kymo" recover --strict -o "$work/second"
alone="process $bystander (numbers) still runs; \"kymo record\" writes its events"
has err "kymo recover: left alone: $alone"
run 0 "$kymo" info "$work/second" --format json
has out "\"left_alone\": \"${alone//\"/\\\"}\""
run 0 "$kymo" info "$work/first"
! grep -q "Left alone" "$scratch/out" || fail "kymo info: something was left alone: $(cat "$scratch/out")"
for trace in first second; do
	reads "$work/$trace" >/dev/null
	mv "$work/text" "$work/$trace.text"
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
assert second[0] == first[-1] + 1, (first[-1], second[0])
PY
grep -q 'ros2:rcl_init' "$work/second.text" || fail "the init log is not there"

# It is gone now; who lives was left alone.
run 6 "$kymo" recover -o "$work/third"
has err "left alone: $alone"
kill -0 $bystander || fail "the bystander died"
"$kymo" status --format csv | grep -q ',record,alive' || fail "the bystander's state was changed"

# A program that recorded itself is killed: what it left is not of the next recording, but a trace beside it.
left_beside() {	# NUMBER: whether it left something, which the recorder of its own had not read
	"$KYMO_BUILD/cyclic/cyclic" --trace "$work/self$1" --seconds 600 >/dev/null 2>&1 &
	program=$!
	wait_for sh -c "ls '$work/self$1'/*/*_0"
	kill -9 $program
	wait $program 2>/dev/null || true
	run 0 "$kymo" start -o "$work/next$1"
	cp "$scratch/err" "$scratch/said"
	wait_for sh -c "ls '$work/next$1'/ust/*_0"	# the bystander's
	run 0 "$kymo" stop
	[ -d "$work/next$1-recovered" ]
}
try=1
while ! left_beside $try && [ $try -lt 20 ]; do
	try=$((try + 1))
done
grep -q "cyclic ($program) recorded itself and was killed: the [0-9]* events that it had left are in $work/next$try-recovered" \
	"$scratch/said" || fail "nothing of what was left is said: $(cat "$scratch/said")"
run 0 "$kymo" info "$work/next$try-recovered"
has out cyclic
run 0 "$kymo" info "$work/next$try"
! grep cyclic "$scratch/out" || fail "the next recording has events of before"

finish
