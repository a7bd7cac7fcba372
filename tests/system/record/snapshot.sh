#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# `kymo snapshot` without a recorder: of programs that keep their last events themselves, while they
# run, are stopped, and are dead; and a recorder that takes such a program over and gives it back.
. "$(dirname "$0")/../lib/libtest.sh"
numbers=$KYMO_BUILD/tests/numbers
export KYMO_DIR=$scratch/run ROS_TRACE_DIR=$scratch/traces
unset KYMO_SESSION KYMO_FLIGHT KYMO_RING_SIZE

# whole TRACE [LAST_NS [FULL]]: babeltrace2 reads it without a word, each thread's numbers have no hole, the
# facts are there; none older than LAST_NS before the last, and all of those that are in FULL. Prints the
# last number of each thread.
whole() {
	/usr/bin/python3 -B - "$KYMO_SOURCE/tests/system/lib" "$@" <<'PY' || fail "$1 is not whole"
import subprocess, sys
sys.path.insert(0, sys.argv[1])
import libctf
trace, window = sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None
bt = subprocess.run(['babeltrace2', '-o', 'dummy', trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
assert bt.returncode == 0 and not bt.stdout, bt.stdout
def read(trace):
    threads, times, facts = {}, [], 0
    for lane in libctf.read_trace(trace).values():
        for event, ns in zip(lane.events, lane.times):
            facts += event.name == 'ros2:rcl_init'
            if event.name == 'ros2:rcl_publish':
                threads.setdefault(event.fields[0][1], []).append(event.fields[1][1])
                times.append(ns)
    assert facts == 1, facts
    return threads, times
threads, times = read(trace)
for thread, seen in threads.items():
    assert seen == list(range(seen[0], seen[-1] + 1)), (thread, seen[:3], seen[-3:])
if window:
    assert max(times) - min(times) <= window, (max(times) - min(times), window)
if len(sys.argv) > 4:
    full = read(sys.argv[4])[1]
    assert len(times) == sum(ns >= max(full) - window for ns in full), (len(times), len(full))
print(' '.join(str(threads[t][-1]) for t in sorted(threads)))
PY
}

# ---- nothing there ----
run 6 "$kymo" snapshot
has err "kymo run --flight"
run 2 "$kymo" snapshot now
run 2 "$kymo" snapshot -p x
mkdir -m 700 "$KYMO_DIR"
run 6 "$kymo" snapshot -o "$scratch/none"
[ -e "$scratch/none" ] && fail "a trace of nothing was made"

# ---- while it runs: twice, and a program that does not keep anything is no part of it ----
"$kymo" run -- "$numbers" --rate 1000 --seconds 600 "$scratch/other" &
bystander=$!
wait_for in_status "numbers,wait"
run 6 "$kymo" snapshot
KYMO_RING_SIZE=128K "$kymo" run --flight -- "$numbers" --threads 2 --rate 10000 --seconds 600 "$scratch/n" &
program=$!
wait_for in_status "numbers,flight"
# Twice what a ring holds.
wait_for python3 -c 'import struct, sys; sys.exit(min(struct.unpack("<2Q", open(sys.argv[1], "rb").read(16))) < 12000)' "$scratch/n"
run 0 "$kymo" snapshot -o "$scratch/a"
[ "$(cat "$scratch/out")" = "$scratch/a" ] || fail "it does not print the path: $(cat "$scratch/out")"
has err "had been overwritten"
alone="process $bystander (numbers) does not keep its last events; start it with \"kymo run --flight\""
has err "kymo snapshot: left alone: $alone"
same "what was left alone" "$alone" "$(field "$scratch/a" left_alone)"
whole "$scratch/a" >"$scratch/first"
run 0 "$kymo" snapshot -q
trace=$(cat "$scratch/out")
case $trace in "$ROS_TRACE_DIR"/session-*) ;; *) fail "not where traces are: $trace" ;; esac
whole "$trace" >"$scratch/second"
run 0 "$kymo" snapshot --last 100ms -o "$scratch/b" --format json
has out '"events":'
whole "$scratch/b" 100000000 >/dev/null
run 6 "$kymo" snapshot -p "$bystander"
run 0 "$kymo" snapshot -p "$program" -o "$scratch/c"
! grep "left alone" "$scratch/err" || fail "nobody asked for the other one"
run 0 "$kymo" status --format csv
has out "$program,numbers,flight,alive"
has out "$bystander,numbers,wait,alive"

# ---- produced = recorded + overwritten + left out, to the event, once it stands still ----
kill -STOP "$program"
wait_for stopped "$program"
run 0 "$kymo" snapshot -o "$scratch/d"
run 0 "$kymo" snapshot --last 50ms -o "$scratch/e"
run 0 "$kymo" info "$scratch/e"
has out "Snapshot: kymo snapshot, from the programs' own memory"
has out "Overwritten before: "
has out "Before the window: "
read -r one two <<<"$(whole "$scratch/d")"
whole "$scratch/e" 50000000 "$scratch/d" >/dev/null
python3 - "$scratch" "$one" "$two" <<'PY' || fail "the accounts do not add up"
import json, sys
scratch, last = sys.argv[1], int(sys.argv[2]) + int(sys.argv[3])
for name in 'd', 'e':
    totals = json.load(open('%s/%s/kymo.json' % (scratch, name)))['totals']
    assert totals['recorded'] + totals['overwritten'] + totals['outside'] == last, (name, totals, last)
    assert totals['overwritten'] > 0 and (totals['outside'] > 0) == (name == 'e'), totals
PY

# ---- a recorder takes it over and gives it back ----
kill -CONT "$program"
dropped=unknown
# On a busy machine the rings may be full for a while: then the recording is repeated.
for attempt in 1 2 3 4 5 6 7 8 9 10; do
	"$kymo" record -q -p "$program" -o "$scratch/f$attempt" 2>/dev/null &
	recorder=$!
	wait_for in_status "^$program,numbers,record"
	emitted "$scratch/n" 1000
	run 1 "$kymo" snapshot -o "$scratch/g"
	has err "$scratch/f$attempt"
	[ -e "$scratch/g" ] && fail "a snapshot of what a recorder reads was made"
	run 0 "$kymo" stop
	wait "$recorder" || fail "the recorder gave $?"
	run 0 "$kymo" status --format csv
	has out "$program,numbers,flight,alive"
	[ "$(field "$scratch/f$attempt" totals recorded)" -gt 0 ] || fail "the recorder recorded nothing"
	dropped=$(field "$scratch/f$attempt" totals dropped)
	[ "$dropped" != 0 ] || break
	echo "recording $attempt: $dropped events were dropped; once more"
done
[ "$dropped" = 0 ] && whole "$scratch/f$attempt" >/dev/null || fail "events were dropped in each recording"
emitted "$scratch/n" 24000	# twice what the rings hold: all that they have is the program's own
run 0 "$kymo" snapshot --last 100ms -o "$scratch/h"
whole "$scratch/h" 100000000 >"$scratch/last"

# ---- dead ----
kill -KILL "$program"
wait "$program" 2>/dev/null
run 0 "$kymo" snapshot -o "$scratch/i"
python3 - "$scratch/n" "$(whole "$scratch/i")" <<'PY' || fail "something committed is missing"
import struct, sys
noted = struct.unpack('<2Q', open(sys.argv[1], 'rb').read(16))
seen = [int(n) for n in sys.argv[2].split()]
assert all(n <= s <= n + 1 for n, s in zip(noted, seen)), (noted, seen)
PY
grep -q '"state": *"killed"' "$scratch/i/kymo.json" || fail "not told that it was killed"
run 0 "$kymo" snapshot -q -o "$scratch/j"
run 0 "$kymo" recover -q -o "$scratch/k"
# recover has everything that the snapshot had, and the memory is free.
[ "$(whole "$scratch/k")" = "$(whole "$scratch/i")" ] || fail "recover and snapshot differ"
run 6 "$kymo" snapshot
kill "$bystander"
wait "$bystander" 2>/dev/null

finish
