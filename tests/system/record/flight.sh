#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, long
# `kymo record --flight`: every kind of trigger by a real program, snapshots on request, and what is in them.
. "$(dirname "$0")/../lib/libtest.sh"
numbers=$KYMO_BUILD/tests/numbers
export KYMO_DIR=$scratch/run ROS_TRACE_DIR=$scratch/traces
unset KYMO_SESSION KYMO_FLIGHT KYMO_RING_SIZE

says() {	# TRACE PYTHON: of its kymo.json, s is the snapshot, t the totals
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1] + "/kymo.json")); s = j["snapshot"]; t = j["totals"]
assert '"$2"', (s, t)' "$1" 2>"$scratch/why" || fail "$1: not $2: $(tail -1 "$scratch/why")"
}

# ---- what is refused, before anything is made ----
run 2 "$kymo" record --flight 1s --trigger 'span(x) < 1ms' -o "$scratch/no" -- true
has err "at character 9, '< 1ms'"
has err "--trigger help"
run 0 "$kymo" record --trigger help
has out "chain(/scan -> /cmd_vel) > 80ms"
run 2 "$kymo" record --trigger loss -- true
has err "--flight"
run 2 "$kymo" record --flight 1s --format csv -- true
mkdir -p "$scratch/used/1"
run 1 "$kymo" record --flight 1s -o "$scratch/used" -- true
has err "already exists"
run 6 "$kymo" record --flight 1s -o "$scratch/empty" -- true
run 2 "$kymo" record --flight 0 -- true
has err "keeps nothing"

# Nothing there, twice: neither is the one snapshot that it is to take.
"$kymo" record -q --flight 1s --snapshots 1 2>/dev/null &
recorder=$!
wait_for test -S "$KYMO_DIR/control"
for _ in 1 2; do
	run 6 "$kymo" snapshot -o "$scratch/void"
	has err "nothing to take"
done
run 0 "$kymo" stop
wait "$recorder"
[ -e "$scratch/void" ] && fail "a trace of nothing"
[ -e "$scratch/empty" ] && fail "a directory for nothing"

# ---- loops and spans: a program that is late on purpose ----
cat >"$scratch/late.c" <<'C'
#include <kymo/loop.h>
#include <stdlib.h>
static struct kymo_loop loop;
/* late ROUNDS [ASK]: late at the fiftieth; asks for a snapshot then instead. */
int main(int argc, char **argv)
{
	KYMO_LOOP_INIT(&loop, "test", "loop", 10000000, 0);
	for (int i = 0; i < atoi(argv[1]); i++) {
		kymo_loop_wait(&loop);
		KYMO_SPAN("test", "work", ("i", i));
		kymo_begin_named("test", "named");
		const uint64_t until = kymo__loop_now() + 25000000;
		while (i == 50 && argc == 2 && kymo__loop_now() < until)
			;
		if (i == 50 && argc > 2)
			kymo_snapshot();
		if (i == 60)
			KYMO_INSTANT("test", "ahead", ("at_ns", kymo_now() + 3600000000000u));
		kymo_end_named();
	}
	kymo_loop_end(&loop);
	return argv[0] == NULL;
}
C
"${CC:-cc}" -std=gnu11 -O2 -I"$KYMO_SOURCE/include" -o "$scratch/late" "$scratch/late.c" -L"$KYMO_BUILD/lib" -lkymo \
	-Wl,-rpath,"$KYMO_BUILD/lib" || fail "late.c does not compile"
n=0
for trigger in 'overrun' 'overrun(loop)' 'missed(test:loop)' 'span(work) > 20ms' 'span(test:na*) > 20ms' \
	'span(loop) > 24ms' 'event(test:loop_overrun)'; do
	n=$((n + 1))
	# It ends with the snapshot, and the program, which would run for a minute, by SIGINT.
	run 130 "$kymo" record --flight 10s --post 500ms --trigger 'span(nothing) > 1ns' --trigger "$trigger" --snapshots 1 \
		-o "$scratch/l$n" -- "$scratch/late" 6000
	has out "$scratch/l$n/1  $trigger: test:"
	has out " in late ("
	has err "'span(nothing) > 1ns': nothing had that name"
	reads "$scratch/l$n/1" >/dev/null
	says "$scratch/l$n/1" "s['cause'] == 'trigger' and s['trigger'] == '$trigger' and s['procname'] == 'late'"
	case $trigger in
	span*) says "$scratch/l$n/1" "20e6 < s['value'] < 1e10" ;;
	event*) says "$scratch/l$n/1" "s['value'] == 0" ;;
	*) says "$scratch/l$n/1" "0 < s['value'] < 1e10" ;;
	esac
	# What fired is there, and what came in --post after it. (A busy machine is late, too.)
	[ "$(sed -n '/test:loop_missed/,$p' "$scratch/text" | grep -c loop_begin)" -ge 2 ] ||
		fail "$trigger: not there, or it did not go on for --post"
done
run 0 "$kymo" info "$scratch/l4/1"
has out "Snapshot: span(work) > 20ms: test:work, "
run 0 "$kymo" report "$scratch/l4/1"
has out "Snapshot: span(work) > 20ms: test:work, "
run 0 "$kymo" record --flight 10s --trigger 'span(work) > 10s' -o "$scratch/never" -- "$scratch/late" 100
has err "0 snapshots"
empty out
[ -e "$scratch/never/1" ] && fail "a snapshot without a reason"

# An event with a time to come is one of now; and without --post its snapshot is written before the program ends.
run 130 "$kymo" record --flight 10s --post 0 --trigger 'event(ahead)' --snapshots 1 -o "$scratch/ahead" -- "$scratch/late" 6000
says "$scratch/ahead/1" "s['at_ns'] <= j['start_ns'] + j['duration_ns']"

# Whom the recorder itself ends has not died.
run 130 "$kymo" record --flight 10s --trigger died -d 300ms -o "$scratch/ended" -- "$scratch/late" 6000
has err "0 snapshots"

# ---- the program asks ----
run 0 "$kymo" record --flight 10s -o "$scratch/p" -- "$scratch/late" 100 ask
has out "$scratch/p/1  kymo_snapshot() of late ("
reads "$scratch/p/1" >/dev/null
says "$scratch/p/1" "s['cause'] == 'program' and s['procname'] == 'late'"
[ -e "$scratch/p/2" ] && fail "one call, two snapshots"

# ---- events of ROS 2, death, loss ----
run 0 "$kymo" record --flight 10s --post 500ms --trigger 'event(ros2:rcl_pub*)' --snapshots 1 --format json \
	-- "$numbers" --rate 1000 --seconds 20 "$scratch/n"
python3 -c 'import json,sys; r = json.loads(open(sys.argv[1]).read()); assert r["trace"].startswith(sys.argv[2]) and r["suppressed"] > 10, r' \
	"$scratch/out" "$ROS_TRACE_DIR/session-" || fail "event: $(cat "$scratch/out")"
run 137 "$kymo" record --flight 10s --trigger 'died(numbers)' -o "$scratch/d" -- "$numbers" --rate 20000 --seconds 20 \
	--die-at 5000 "$scratch/n"
has out "$scratch/d/1  died(numbers): numbers in numbers ("
reads "$scratch/d/1" >/dev/null
says "$scratch/d/1" "s['what'] == 'numbers' and j['processes'][0]['state'] == 'killed'"
[ "$(grep -c rcl_publish "$scratch/text")" -ge 5000 ] || fail "died: the last events are not there"
KYMO_RING_SIZE=16K run 0 "$kymo" record --flight 2s --trigger loss --post 10ms --snapshots 1 -o "$scratch/x" -- \
	"$numbers" --threads 1 --rate 5000000 --seconds 20 "$scratch/n"
has out "$scratch/x/1  loss: events dropped, "
says "$scratch/x/1" "t['dropped'] > 0 and s['value'] > 0"
babeltrace2 "$scratch/x/1" 2>&1 >/dev/null | awk '/Tracer discarded/ { n += $4 } END { printf "%d\n", n }' >"$scratch/discarded"
says "$scratch/x/1" "t['dropped'] == $(cat "$scratch/discarded")"

# ---- the window: numbers without a hole, the last ones, none older; many snapshots of one recorder ----
# Rings large enough that nothing is dropped on a busy machine.
KYMO_RING_SIZE=4M "$kymo" run -- "$numbers" --threads 2 --rate 20000 --seconds 600 "$scratch/n" &
program=$!
wait_for in_status "numbers,wait"
"$kymo" record --flight 400ms -o "$scratch/w" >"$scratch/lines" 2>"$scratch/record.err" &
recorder=$!
wait_for in_status "^$program,numbers,record"
wait_for test -S "$KYMO_DIR/control"
emitted "$scratch/n" 20000	# of a second: more than the window
before() {	# the time, and what each thread had emitted after it
	/usr/bin/python3 -c 'import sys, time; t = time.monotonic_ns(); n = open(sys.argv[1], "rb").read(16)
open(sys.argv[2], "wb").write(n + t.to_bytes(8, "little"))' "$scratch/n" "$scratch/before"
	emitted "$scratch/n" 1000
}
window() {	# TRACE NS
	cp "$scratch/n" "$scratch/after"
	/usr/bin/python3 -B - "$KYMO_SOURCE/tests/system/lib" "$1" "$2" "$scratch/before" "$scratch/after" <<'PY' || fail "the window of $1"
import json, struct, sys
sys.path.insert(0, sys.argv[1])
import libctf
trace, window = sys.argv[2], int(sys.argv[3])
*before, stamp = struct.unpack('<3Q', open(sys.argv[4], 'rb').read(24))
after = struct.unpack('<2Q', open(sys.argv[5], 'rb').read(16))
begin = json.load(open(trace + '/kymo.json'))['start_ns']
threads, times, facts = {}, [], 0
for lane in libctf.read_trace(trace).values():
    for event, ns in zip(lane.events, lane.times):
        facts += event.name == 'ros2:rcl_init'
        if event.name == 'ros2:rcl_publish':
            threads.setdefault(event.fields[0][1], []).append(event.fields[1][1])
            times.append(ns)
assert facts == 1, facts
for thread, seen in threads.items():
    assert seen == list(range(seen[0], seen[-1] + 1)), ('a hole', thread, seen[:3], seen[-3:])
    assert before[thread] <= seen[-1] <= after[thread] + 1, (before, seen[-1], after)
    # What was emitted after the stamp is there if the window reaches back to it.
    assert stamp < begin or seen[0] <= before[thread] + 2, (stamp, begin, seen[0], before[thread])
assert len(threads) == 2 and max(times) - min(times) <= window, (max(times) - min(times), window)
PY
}
before
run 0 "$kymo" snapshot
[ "$(cat "$scratch/out")" = "$scratch/w/1" ] || fail "snapshot printed $(cat "$scratch/out")"
reads "$scratch/w/1" >/dev/null
window "$scratch/w/1" 400000000
before
run 0 "$kymo" snapshot --last 100ms -o "$scratch/elsewhere"
reads "$scratch/elsewhere" >/dev/null
window "$scratch/elsewhere" 100000000
before
kill -USR1 "$recorder"
wait_for grep -q SIGUSR1 "$scratch/lines"
reads "$scratch/w/3" >/dev/null
window "$scratch/w/3" 400000000
run 1 "$kymo" snapshot -o "$scratch/elsewhere"
has err "already exists"
grep -q "already exists" "$scratch/record.err" && fail "the recorder complains of what a client asked for"
for _ in 1 2 3 4; do "$kymo" snapshot -q >>"$scratch/many" & done
wait_for sh -c "[ \"\$(wc -l <'$scratch/many')\" = 4 ]"
run 0 "$kymo" stop
wait "$recorder" || fail "the recorder gave $?: $(cat "$scratch/record.err")"
run 0 "$kymo" status --format csv
has out "$program,numbers,wait,alive"

# ---- too little memory: said once, and in the trace ----
"$kymo" record --flight 60s --flight-memory 1M -o "$scratch/m" >"$scratch/lines" 2>"$scratch/record.err" &
recorder=$!
wait_for test -S "$KYMO_DIR/control"
wait_for grep -q "hold only the last" "$scratch/record.err"
emitted "$scratch/n" 10000	# of half a second, in which it could be said once more
run 0 "$kymo" snapshot
run 0 "$kymo" stop
wait "$recorder" || fail "the recorder gave $?"
[ "$(grep -c "hold only the last" "$scratch/record.err")" = 1 ] || fail "said more than once: $(cat "$scratch/record.err")"
says "$scratch/m/1" "s['memory_short'] and t['outside'] > 0 and t['bytes'] < 1200000"
reads "$scratch/m/1" >/dev/null
kill "$program"
wait "$program" 2>/dev/null

finish
