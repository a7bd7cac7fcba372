#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
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
