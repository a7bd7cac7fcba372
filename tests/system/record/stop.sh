#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, long
# `kymo stop` ends a recorder as Ctrl-C does, waits for it, and says so when there is none.
. "$(dirname "$0")/../lib/libtest.sh"
numbers=$KYMO_BUILD/tests/numbers
export KYMO_DIR=$scratch/run
unset KYMO_SESSION KYMO_FLIGHT

run 6 "$kymo" stop
has err "no recorder is running"
run 2 "$kymo" stop now
mkdir -m 700 "$KYMO_DIR"
run 6 "$kymo" stop

# Attached: the trace is complete when stop returns.
"$kymo" run -- "$numbers" --rate 5000 --seconds 600 "$scratch/n" &
program=$!
"$kymo" record -q -o "$scratch/a" 2>/dev/null &
recorder=$!
wait_for in_status "numbers,record"
wait_for listens "$KYMO_DIR/control"
emitted "$scratch/n" 1000
run 0 "$kymo" stop
has err "trace: $scratch/a"
has err "$(field "$scratch/a" totals recorded) events and "	# as the recorder says it at its end
has err ", $(field "$scratch/a" totals dropped) dropped"
grep -q '"ended": *true' "$scratch/a/kymo.json" || fail "the trace is not complete when stop returns"
kill -0 "$recorder" 2>/dev/null && [ "$(ps -o stat= -p "$recorder" | cut -c1)" != Z ] && fail "the recorder is still there"
wait "$recorder" || fail "the recorder gave $?"
[ -e "$KYMO_DIR/control" ] && fail "the socket is still there"
run 0 "$kymo" status --format csv
has out "$program,numbers,wait,alive"
run 6 "$kymo" stop

# One signal after the other: the trace is completed, and said, all the same.
"$kymo" record -q --format json -o "$scratch/flood" >"$scratch/summary" 2>/dev/null &
recorder=$!
wait_for in_status "numbers,record"
while kill -TERM "$recorder" 2>/dev/null; do :; done
wait "$recorder" || fail "a recorder with many signals gave $?"
grep -q '"trace"' "$scratch/summary" || fail "a recorder with many signals said nothing"
grep -q '"ended": *true' "$scratch/flood/kymo.json" || fail "many signals, and the trace is not complete"
kill "$program"
wait "$program" 2>/dev/null

# A command gets SIGINT, and its status comes back.
"$kymo" record -q -o "$scratch/b" -- sh -c 'trap "exit 33" INT; : >"$0"; while :; do sleep 0.1; done' "$scratch/trapped" 2>/dev/null &
recorder=$!
wait_for listens "$KYMO_DIR/control"
wait_for test -e "$scratch/trapped"
run 0 "$kymo" stop
wait "$recorder"
status=$?
[ "$status" = 33 ] || fail "the command's status is $status"

# What kymo started, kymo ends: a parent that keeps SIGINT to itself, as "ros2 run" does, and its traced child.
keeps='import signal, subprocess, sys
signal.signal(signal.SIGINT, lambda *_: None)
open(sys.argv[2] + ".pid", "w").write(str(subprocess.Popen([sys.argv[1], "--rate", "2000", "--seconds", "600", sys.argv[2]]).pid))
__import__("os").wait()'
start() {	# NAME OPTION...: a recording of it
	"$kymo" record -q -o "$scratch/left-$1" "${@:2}" -- python3 -c "$keeps" "$numbers" "$scratch/left-$1.n"
}
ended() {	# NAME: its child has ended
	kill -0 "$(cat "$scratch/left-$1.n.pid")" 2>/dev/null && fail "$1: the traced child still runs"
}
for seconds in 1 4 16; do	# until the child has begun within this time, and has ended within the 3 s before SIGTERM
	start duration -d $seconds 2>/dev/null
	status=$?
	[ $status = 0 ] && [ -s "$scratch/left-duration.n.pid" ] && break
	[ $status = 0 ] || [ $status = 143 ] || [ ! -s "$scratch/left-duration.n.pid" ] || break	# Python not ready: 1
	rm -rf "$scratch/left-duration"*
done
[ $status = 0 ] || fail "--duration: $status"
ended duration
same "all events" "$(noted "$scratch/left-duration.n")" "$(field "$scratch/left-duration" totals recorded)"
start pipe -d $seconds 2>&1 | cat	# which ends when nobody has the pipe open
[ ! -e "$scratch/left-pipe.n.pid" ] || ended pipe
start snapshots --flight 1s --snapshots 1 2>/dev/null &
recorder=$!
wait_for listens "$KYMO_DIR/control"
wait_for in_status "numbers,record"
wait_for "$kymo" snapshot -q
wait "$recorder" || fail "--snapshots: $?"
ended snapshots
start stop 2>/dev/null &
recorder=$!
wait_for listens "$KYMO_DIR/control"
wait_for in_status "numbers,record"
run 0 "$kymo" stop -q
wait "$recorder" || fail "stop: $?"
ended stop
# SIGINT to the recorder alone, which is in the background: the command gets it, too.
"$kymo" record -q -o "$scratch/alone" -- "$numbers" --rate 1000 --seconds 600 "$scratch/n5" 2>/dev/null &
recorder=$!
wait_for in_status "numbers,record"
kill -INT "$recorder"
wait "$recorder" || fail "SIGINT alone: $?"
in_status "numbers" && fail "SIGINT to the recorder did not reach its command"

# Ctrl-C at a terminal reaches the command from there, and takes its time: it comes once.
python3 - "$kymo" "$scratch" "$numbers" <<'END' || fail "Ctrl-C at a terminal"
import os, pty, sys, time
kymo, scratch, numbers = sys.argv[1:]
pid, terminal = pty.fork()
if not pid:
    os.execv(kymo, [kymo, "record", "-q", "-o", scratch + "/terminal", "--", "sh", "-c",
                    'trap "n=\\$((n + 1))" INT; "$0" --rate 1000 --seconds 600 "$1"; sleep 3; exit $((40 + n))', numbers, scratch + "/n7"])
while not os.path.exists(scratch + "/n7") or not os.path.getsize(scratch + "/n7") or not os.path.exists(scratch + "/terminal/ust"):
    time.sleep(0.01)
os.write(terminal, b"\x03")
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert status == 41, status
END

# What does not end is named. The directories above the trace are created.
run 1 "$kymo" record -q -d 0.2 -o "$scratch/deaf/to/all" -- sh -c 'trap "" INT TERM; "$0" --rate 1000 --seconds 0.1 "$1"; exec sleep 600' \
	"$numbers" "$scratch/n6"
has err "1 process of the command did not end and still runs: "
has err ' (sleep); end them with "kill -KILL '
kill -KILL "$(sed -n 's/.*kill -KILL \([0-9]*\)"$/\1/p' "$scratch/err")" || fail "not the process: $(cat "$scratch/err")"

test -d "$scratch/deaf/to/all/ust" || fail "no trace"
run 1 "$kymo" record -q -d 0.2 -o "$scratch/deaf/to/nothing" -- sh -c 'trap "" INT TERM; exec sleep 600'
has err "1 process of the command did not end and still runs: "
has err "nothing was traced"
kill -KILL "$(sed -n 's/.*kill -KILL \([0-9]*\)"$/\1/p' "$scratch/err")" || fail "not the process: $(cat "$scratch/err")"

# The socket of a recorder that was killed is in nobody's way.
"$kymo" record -q -o "$scratch/c" 2>/dev/null &
recorder=$!
wait_for test -S "$KYMO_DIR/control"
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
run 6 "$kymo" stop
"$kymo" record -q -o "$scratch/d" 2>/dev/null &
recorder=$!
wait_for in_status recorder_pid
wait_for "$kymo" stop -q
wait "$recorder"

# One that hangs is told from one that is not there.
"$kymo" record -q -o "$scratch/e" 2>/dev/null &
recorder=$!
wait_for in_status recorder_pid
wait_for listens "$KYMO_DIR/control"
kill -STOP "$recorder"
wait_for stopped "$recorder"
run 1 "$kymo" stop --timeout 300ms
has err "does it hang"
kill -CONT "$recorder"
wait "$recorder"
[ $? = 6 ] || fail "the request was forgotten"
[ -e "$scratch/e" ] && fail "a trace without any event is left"

finish
