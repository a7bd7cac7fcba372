#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# Every action in every state, from another terminal: what it answers, the state afterwards, and what is recorded.
. "$(dirname "$0")/../lib/libtest.sh"
numbers=$KYMO_BUILD/tests/numbers
export KYMO_DIR=$scratch/run ROS_TRACE_DIR=$scratch/traces
unset KYMO_SESSION KYMO_FLIGHT KYMO_RING_SIZE
export KYMO_RING_SIZE=2M	# nothing is dropped, however slow the recorder is
program=
trap '"$kymo" stop -q 2>/dev/null; [ -z "$program" ] || kill "$program" 2>/dev/null; wait; rm -rf "$scratch"' EXIT
session=0

# process_is STATE: that of the program, and that a newcomer would take.
process_is() {
	in_status "^$program,numbers,$1,alive"
}
is() {	# STATE: of the session and of every process in it
	wait_for process_is "$1"
	[ "$1" = wait ] || in_status "^# state,$1" || fail "the session is not in $1: $("$kymo" status --format csv)"
	[ "$1" != wait ] || ! in_status '^# recorder_pid' || fail "somebody records"
}

# get_into STATE: from wherever it is.
get_into() {
	"$kymo" stop -q 2>/dev/null
	session=$((session + 1))
	case $1 in
	prepare) run 0 "$kymo" start --paused -o "$scratch/t$session" ;;
	record) run 0 "$kymo" start -o "$scratch/t$session" ;;
	esac
	is "$1"
}

act() {	# ACTION
	case $1 in
	start) "$kymo" start -o "$scratch/new$session" ;;
	start_paused) "$kymo" start --paused -o "$scratch/new$session" ;;
	*) "$kymo" "$1" ;;
	esac
}

"$kymo" run -- "$numbers" --threads 2 --rate 2000 --seconds 300 "$scratch/n" &
program=$!
wait_for process_is wait

# ---- the table: state, action, exit status, what it says, state afterwards ----
while read -r state action status after says; do
	get_into "$state"
	run "$status" act "$action" || echo "    ($action in $state)" >&2
	grep -qsF -- "$says" "$scratch/out" "$scratch/err" ||
		fail "$action in $state does not say '$says': $(cat "$scratch/out" "$scratch/err")"
	is "$after"
done <<'TABLE'
wait	start		0 record	State: record
wait	start_paused	0 prepare	State: prepare
wait	pause		6 wait		kymo start
wait	resume		6 wait		KYMO_DIR
wait	stop		6 wait		no recorder is running in
prepare	start		1 prepare	kymo resume
prepare	start_paused	1 prepare	kymo stop
prepare	pause		0 prepare	pauses already
prepare	resume		0 record	records: 1 process
prepare	stop		0 wait		trace: /
record	start		1 record	is being recorded already
record	start_paused	1 record	kymo stop
record	pause		0 prepare	pauses: 1 process
record	resume		0 record	records already
record	stop		0 wait		kymo report
TABLE
run 2 "$kymo" pause now
run 2 "$kymo" resume --paused
run 2 "$kymo" start -- true
has err "kymo run"
run 2 "$kymo" start --all -p 1
run 2 "$kymo" record -p ''

# ---- nothing runs while it pauses; a newcomer takes the state; facts are taken ----
get_into prepare
run 0 "$kymo" run -- "$numbers" --rate 2000 --seconds 0.05 "$scratch/other"
run 0 "$kymo" stop
[ "$(reads "$scratch/t$session")" -gt 0 ] || fail "no facts"
same "events in PREPARE" 0 "$(field "$scratch/t$session" totals recorded)"
same "facts in PREPARE" 2 "$(grep -c 'ros2:rcl_init' "$scratch/text")"
same "processes" 2 "$(field "$scratch/t$session" totals processes)"
same "pauses" 1 "$(field "$scratch/t$session" pause_count)"

# ---- pauses: no event inside of one, all outside, and they are noted ----
least() {	# what the thread has emitted that emitted least
	od -An -v -t u8 -w8 -N 16 "$scratch/n" | sort -n | head -1 | tr -d ' '
}
is_past() {	# COUNT
	[ "$(least)" -gt "$1" ]
}
further() {	# each thread has emitted 50 more, if somebody wants them or not
	wait_for is_past $(($(od -An -v -t u8 -w8 -N 16 "$scratch/n" | sort -n | tail -1) + 50))
}
get_into record
for _ in 1 2 3; do
	further
	run 0 "$kymo" pause
	further
	run 0 "$kymo" resume
done
further
run 0 "$kymo" stop
/usr/bin/python3 -B - "$KYMO_SOURCE/tests/system/lib" "$scratch/t$session" <<'PY' || fail "pauses are not kept"
import json, sys
sys.path.insert(0, sys.argv[1])
import libctf
account = json.load(open(sys.argv[2] + '/kymo.json'))
pauses = [(p['begin_ns'], p['end_ns']) for p in account['pauses']]
assert len(pauses) == account['pause_count'] == 3 and account['state'] == 'wait', account
assert sum(end - begin for begin, end in pauses) == account['paused_ns'], account
assert account['totals']['dropped'] == 0, account['totals']
edges = [0] + [t for pause in pauses for t in pause] + [1 << 63]
runs = list(zip(edges[::2], edges[1::2]))       # when it recorded
total = 0
for key, lane in libctf.read_trace(sys.argv[2]).items():
    numbers = [(event.fields[1][1], time) for event, time in zip(lane.events, lane.times)
               if event.name == 'ros2:rcl_publish']
    if not numbers:
        continue                                # the main thread
    total += len(numbers)
    for number, time in numbers:
        assert any(begin <= time <= end for begin, end in runs), (number, time, pauses)
    gaps = [(a, b) for (a, ta), (b, tb) in zip(numbers, numbers[1:]) if b != a + 1]
    assert len(gaps) == 3, (key, gaps)          # one a pause: complete between them
assert total == account['totals']['recorded'], (total, account['totals'])
PY

# ---- by number, by name: late ones join, others stay as they are ----
cp "$numbers" "$scratch/planner_main"
cp "$numbers" "$scratch/a_program_with_a_long_name"
run 0 "$kymo" start -p 'plann*' -p a_program_with_a_long_name -o "$scratch/named"
run 0 "$kymo" run -- "$scratch/planner_main" --rate 2000 --seconds 0.05 "$scratch/p"
run 0 "$kymo" run -- "$scratch/a_program_with_a_long_name" --rate 2000 --seconds 0.05 "$scratch/q"
run 0 "$kymo" run -- "$numbers" --rate 2000 --seconds 0.05 "$scratch/other"
is_wait() {
	[ "$("$kymo" status --format csv | grep -c ',wait,alive')" = 1 ]
}
wait_for is_wait
run 0 "$kymo" stop
reads "$scratch/named" >/dev/null
same "of these names" "$(($(noted "$scratch/p") + $(noted "$scratch/q")))" "$(field "$scratch/named" totals recorded)"
same "processes" 2 "$(field "$scratch/named" totals processes)"
run 0 "$kymo" start -p "$program" -p nobody -o "$scratch/numbered"
process_is record || fail "-p $program does not record it"
run 0 "$kymo" run -- "$numbers" --rate 2000 --seconds 0.05 "$scratch/other"
run 0 "$kymo" stop
same "processes" 1 "$(field "$scratch/numbered" totals processes)"
run 3 "$kymo" record -p 999999999
has err "kymo status"
sleep 100 &
sleeper=$!
run 0 "$kymo" start -p "$sleeper" -o "$scratch/nothing"
has err "kymo run -- CMD"
has err "kymo doctor -p $sleeper"
run 0 "$kymo" stop
has err "there is no trace"
[ -e "$scratch/nothing" ] && fail "a trace of nothing"
[ -e "$scratch/nothing.log" ] && fail "a log of nothing"
kill "$sleeper"

# ---- a command, and all others with it ----
run 0 "$kymo" record --all -o "$scratch/both" -- "$numbers" --rate 2000 --seconds 0.1 "$scratch/other"
same "processes" 2 "$(field "$scratch/both" totals processes)"

# ---- a recorder that dies in any state leaves nothing stuck ----
for state in record prepare; do
	get_into "$state"
	kill -KILL "$(sed -n 's/^# recorder_pid,//p' <<<"$("$kymo" status --format csv)")"
	wait_for eval '! in_status "^# recorder_pid"'
	run 6 "$kymo" resume
	run 0 "$kymo" run -- "$numbers" --rate 2000 --seconds 0.05 "$scratch/other"
	get_into record
	run 0 "$kymo" stop
	is wait
done
same "what is left" 2 "$(ls "$KYMO_DIR" | wc -l)"	# domain, and the program that runs on

finish
