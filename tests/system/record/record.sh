#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, long
# `kymo record`, `run` and `status` as a user meets them: statuses, signals, crashes, bad places.
. "$(dirname "$0")/../lib/libtest.sh"
numbers=$KYMO_BUILD/tests/numbers
export KYMO_DIR=$scratch/run
mkdir -m 700 "$KYMO_DIR"
unset KYMO_SESSION KYMO_FORWARD ROS_HOME
export ROS_TRACE_DIR=$scratch/traces

# ---- a command: all of it, and its status; also with a ring as large as all rings may be by default ----
run 0 "$kymo" record --ring-size 64M -o "$scratch/large" -- "$numbers" --rate 20000 --seconds 0.1 "$scratch/n"
has err "0 dropped"
run 0 "$kymo" record -o "$scratch/a" -- "$numbers" --rate 20000 --seconds 0.5 "$scratch/n"
has err "0 dropped"
has err "kymo report $scratch/a"
same "events" "$(($(noted "$scratch/n") + 1))" "$(reads "$scratch/a")"
same "json" "$(noted "$scratch/n")" "$(field "$scratch/a" totals recorded)"
same "ended" True "$(field "$scratch/a" ended)"
same "state" exited "$(field "$scratch/a" processes 0 state)"
same "regions left" domain "$(ls "$KYMO_DIR")"
run 7 "$kymo" record -o "$scratch/b" -- sh -c 'exit 7'
run 143 "$kymo" record -o "$scratch/c" -- sh -c 'kill -TERM $$'
run 6 "$kymo" record -o "$scratch/d" -- true
has err "there is no trace"
has err "kymo doctor"
[ -e "$scratch/d" ] && fail "a trace without any event is left"
run 0 "$kymo" record -q --format json -o "$scratch/e" -- "$numbers" --seconds 0.1 "$scratch/n"
empty err
python3 -c 'import json,sys; assert json.load(open(sys.argv[1]))["events"] > 0' "$scratch/out" ||
	fail "the summary is no JSON"
run 0 "$kymo" record -- "$numbers" --seconds 0.1 "$scratch/n"
ls -d "$ROS_TRACE_DIR"/session-*/ust >/dev/null || fail "no session in ROS_TRACE_DIR"

# ---- a killed process: nothing committed is missing ----
run 137 "$kymo" record -o "$scratch/f" -- "$numbers" --rate 200000 --seconds 5 --die-at 5000 "$scratch/n"
seen=$(reads "$scratch/f")
[ "$seen" -gt "$(noted "$scratch/n")" ] || fail "killed: $(noted "$scratch/n") noted, $seen recorded"
same "state" killed "$(field "$scratch/f" processes 0 state)"
same "regions left" domain "$(ls "$KYMO_DIR")"

# ---- loss: exact, told, and a status under --strict ----
export KYMO_RING_SIZE=16K
run 4 "$kymo" record --strict -o "$scratch/g" -- "$numbers" --threads 1 --rate 3000000 --seconds 0.5 "$scratch/n"
unset KYMO_RING_SIZE
has err "dropped"
same "produced" "$(noted "$scratch/n")" \
	"$(($(field "$scratch/g" totals recorded) + $(field "$scratch/g" totals dropped)))"
babeltrace2 "$scratch/g" 2>&1 >/dev/null |
	awk '/Tracer discarded/ { n += $4 } END { printf "%d\n", n }' >"$scratch/discarded"
same "discarded" "$(field "$scratch/g" totals dropped)" "$(cat "$scratch/discarded")"

# ---- bad commands and places: before anything is made ----
run 3 "$kymo" record -o "$scratch/h" -- no-such-program-here
has err "no-such-program-here"
run 3 "$kymo" record -o "$scratch/h" -- /etc/passwd
[ -e "$scratch/h" ] && fail "a trace was made for nothing"
run 3 "$kymo" run -- no-such-program-here
run 2 "$kymo" record --nonsense
run 2 "$kymo" record true
has err "record -- true"
run 2 "$kymo" record --
run 3 "$kymo" record -p 999999999
run 2 "$kymo" record -o net://127.0.0.1/walk -- true
has err "use --relay net://127.0.0.1/walk"
(ulimit -n 8; run 1 "$kymo" record -o "$scratch/few" -- true)
grep -q "at most 8 files may be open .*raise the limit (ulimit -n)" "$scratch/err" || fail "few descriptors: $(cat "$scratch/err")"
run 1 "$kymo" record -o "$scratch/a" -- true
has err "already exists"
run 1 "$kymo" record -o /proc/none/x -- true
has err "/proc/none/x"
KYMO_DIR=relative run 1 "$kymo" record -o "$scratch/h" -- true
has err "absolute"

# ---- attach late, Ctrl-C, a second recorder, status ----
KYMO_RING_SIZE=4M "$kymo" run -- "$numbers" --rate 10000 --seconds 300 "$scratch/n" &
program=$!
wait_for in_status "^$program,numbers,wait,alive"
"$kymo" record -o "$scratch/i" 2>"$scratch/record.err" &
recorder=$!
wait_for in_status "^$program,numbers,record"
run 0 "$kymo" status
has out "$scratch/i"
has out "$recorder"
run 1 "$kymo" record -o "$scratch/j"
has err "$recorder"
has err "$scratch/i"
has err "KYMO_DIR"
[ -e "$scratch/j" ] && fail "the second recorder made a trace"
emitted "$scratch/n" 1000
kill -INT "$recorder"
wait "$recorder" || fail "Ctrl-C gave $?: $(cat "$scratch/record.err")"
grep -q "events" "$scratch/record.err" || fail "no summary after Ctrl-C"
reads "$scratch/i" >/dev/null
grep -q rcl_init "$scratch/text" || fail "attached late, and the name is not there"
run 0 "$kymo" status --format csv
has out "$program,numbers,wait,alive"

# ---- who starts while somebody records belongs to it ----
"$kymo" record -q -o "$scratch/p" &
recorder=$!
wait_for in_status recorder_pid
run 0 "$kymo" run -- "$numbers" --seconds 0.2 "$scratch/n2"
wait_for test -e "$scratch/p/kymo.json"
kill -INT "$recorder"
wait "$recorder"
same "state" exited "$(python3 -c 'import json,sys
print([p["state"] for p in json.load(open(sys.argv[1]))["processes"] if p["pid"] != int(sys.argv[2])][0])' \
	"$scratch/p/kymo.json" "$program")"
same "regions left" 2 "$(ls "$KYMO_DIR" | wc -l)"	# domain, and the program that runs on

# ---- a limit on files: told, counted, and the trace opens ----
# The thread sanitizer has a larger file in TMPDIR, if there is such a directory.
(ulimit -f 200; exec env TMPDIR="$kymo/none" "$kymo" record --duration 3s -o "$scratch/r") 2>"$scratch/err"
same "status with a full disk" 1 "$?"
has err "$scratch/r"
has err "raise the limit on file sizes"
babeltrace2 "$scratch/r" >"$scratch/text" 2>"$scratch/warnings" || fail "babeltrace2 cannot read a full disk's trace"
grep -v "Tracer discarded" "$scratch/warnings" && fail "babeltrace2 warns"
same "recorded on a full disk" "$(field "$scratch/r" totals recorded)" "$(grep -c rcl_publish "$scratch/text")"

# ---- the recorder is killed; the next goes on ----
"$kymo" record -o "$scratch/k" 2>/dev/null &
recorder=$!
wait_for in_status "^$program,numbers,record"
emitted "$scratch/n" 1000
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
same "ended" False "$(field "$scratch/k" ended)"
run 0 "$kymo" record -p "$program" -o "$scratch/l" --duration 300ms
kill -TERM "$program"
wait "$program" 2>/dev/null
reads "$scratch/k" >/dev/null
grep -o 'publisher_handle = 0x0, message = .*' "$scratch/text" >"$scratch/first"
reads "$scratch/l" >/dev/null
grep -o 'publisher_handle = 0x0, message = .*' "$scratch/text" >"$scratch/second"
python3 - "$scratch/first" "$scratch/second" <<'END' || fail "a gap between the killed recorder and the next"
import re, sys
first, second = ([int(re.search(r'message = (0x[0-9A-F]+)', l)[1], 16) for l in open(f)] for f in sys.argv[1:])
assert first and second and first == list(range(first[0], first[-1] + 1)), (first[:3], first[-3:])
assert second == list(range(second[0], second[-1] + 1)), (second[:3], second[-3:])
assert second[0] == first[-1] + 1, (first[-1], second[0])
END

# ---- signals go to the command, its status comes back ----
"$kymo" record -o "$scratch/m" -- "$numbers" --seconds 600 "$scratch/n" 2>"$scratch/record.err" &
recorder=$!
wait_for in_status "numbers,record"
kill -TERM "$recorder"
wait "$recorder"
same "status after SIGTERM" 0 "$?"
same "ended" True "$(field "$scratch/m" ended)"

# ---- Ctrl-C goes to both, once ----
setsid "$kymo" record -o "$scratch/q" -- sh -c 'trap "n=\$((n + 1))" INT
	"$1" --seconds 600 "$2"; sleep 0.2; exit $((40 + n))' sh "$numbers" "$scratch/n" 2>"$scratch/record.err" &
recorder=$!
wait_for in_status "numbers,record"
kill -INT -- "-$recorder"
wait "$recorder"
same "status after Ctrl-C" 41 "$?"
same "ended" True "$(field "$scratch/q" ended)"

# ---- why nothing is recorded is shown at a terminal while there is nothing ----
python3 - "$kymo" "$scratch" <<'END' || fail "no word about nothing"
import os, pty, sys
kymo, scratch = sys.argv[1:]
def shown(what, *command):
    pid, terminal = pty.fork()
    if not pid:
        os.execv(kymo, [kymo, "record", "-o", scratch + "/nothing", *command])
    said = b""
    while what not in said:
        said += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    os.waitpid(pid, 0)
shown(b"no traced process is running, so nothing is recorded yet")
shown(b"nothing of the command is traced yet", "--", "sleep", "600")
END

# ---- what filled the rings is named, and no ring that is larger than the largest ----
run 0 "$kymo" record --ring-size 16K -o "$scratch/full" -- "$numbers" --threads 1 --rate 3000000 --seconds 0.5 "$scratch/n"
has err "was ros2:rcl_publish (-e '!ros2:rcl_publish' leaves it out)"
has err "use larger rings (--ring-size 4M"
run 0 "$kymo" record -q -e '!ros2:rcl_publish' -o "$scratch/less" -- sh -c '"$0" --threads 1 --rate 1000 --seconds 0.1 "$1"' "$numbers" "$scratch/n"
same "left out" 0 "$(field "$scratch/less" totals recorded)"

# ---- the trace directory vanishes: it is made again ----
"$kymo" record -o "$scratch/o" 2>"$scratch/err" &
recorder=$!
wait_for test -e "$scratch/o/kymo.json"
mv "$scratch/o" "$scratch/away"
wait_for test -e "$scratch/o/kymo.json"
kill -INT "$recorder"
wait "$recorder"
same "status without a directory" 1 "$?"
has err "removed"

finish
