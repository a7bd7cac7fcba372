#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# Programs and recorders in different pid namespaces, and under different mount points and users, that share
# a runtime directory: who lives, who died, and what is in the trace.
. "$(dirname "$0")/../lib/libtest.sh"
numbers=$KYMO_BUILD/tests/numbers
export KYMO_DIR=$scratch/run ROS_TRACE_DIR=$scratch/traces
export KYMO_RING_SIZE=2M	# nothing is dropped, however slow the recorder is
unset KYMO_SESSION KYMO_FLIGHT
mkdir -m 700 "$KYMO_DIR"
end() {	# whatever is left, when a check failed
	"$kymo" stop -q 2>/dev/null
	kill $(jobs -p) 2>/dev/null
	wait
	rm -rf "$scratch"
}
trap end EXIT

# Root makes namespaces; others need one of users around them.
user=
[ "$(id -u)" = 0 ] || user=--map-root-user
if ! unshare $user --pid --fork --kill-child --mount-proc true 2>/dev/null; then
	echo "skipped: no pid namespaces here"
	exit 77
fi
apart() {	# COMMAND...: in a pid namespace of its own, which ends with us
	exec unshare $user --pid --fork --kill-child --mount-proc "$@"
}

pid_of() {	# NAME: as the host sees it
	"$kymo" status --interval 0 --format csv | sed -n "s/^\([0-9]*\),$1,.*/\1/p" | head -1
}
region_count() {
	[ "$(find "$KYMO_DIR" -name '*.region' | wc -l)" = "$1" ]
}
state_in() {	# TRACE: how its processes ended
	python3 -c 'import json, sys
print(",".join(sorted(p["state"] for p in json.load(open(sys.argv[1] + "/kymo.json"))["processes"])))' "$1"
}

# ---- two containers, in each the program is pid 1 ----
for name in one two; do
	cp "$numbers" "$scratch/$name"
	(apart "$kymo" run -- "$scratch/$name" --rate 2000 --seconds 300 "$scratch/n.$name") &
	eval "$name=$!"
done
both_wait() {
	[ "$("$kymo" status --format csv | grep -c ',wait,alive')" = 2 ]
}
wait_for both_wait
run 0 "$kymo" start -o "$scratch/a"
both_record() {
	[ "$("$kymo" status --format csv | grep -c ',record,alive')" = 2 ]
}
wait_for both_record
first=$(pid_of one) second=$(pid_of two)
[ -n "$first" ] && [ -n "$second" ] && [ "$first" != "$second" ] || fail "they have the pids '$first' and '$second'"
[ "$(readlink "/proc/$first/exe")" = "$scratch/one" ] || fail "$first is not the program in the container"
is_past() {	# FILE COUNT
	[ "$(noted "$1")" -gt "$2" ]
}
wait_for is_past "$scratch/n.one" 500
# One is killed and noticed; the other, with the same pid of its own, goes on.
kill -KILL "$first"
wait "$one" 2>/dev/null
wait_for region_count 1
wait_for is_past "$scratch/n.two" $(($(noted "$scratch/n.two") + 500))
in_status "^$second,two,record,alive" || fail "the other one is taken for dead"
run 0 "$kymo" stop
same "states" killed,running "$(state_in "$scratch/a")"
reads "$scratch/a" >/dev/null
[ "$(field "$scratch/a" totals recorded)" -ge "$(noted "$scratch/n.one")" ] || fail "events are missing"
same "dropped" 0 "$(field "$scratch/a" totals dropped)"

# ---- by its number here ----
run 0 "$kymo" start -q -p "$second" -o "$scratch/b"
wait_for in_status "^$second,two,record,alive"	# -p takes the pid of here
run 0 "$kymo" stop -q

# ---- the recorder is in the container, the programs are where it sees no pid: beside it, outside ----
(apart "$kymo" record -q -o "$scratch/c") &
recorder=$!
wait_for in_status "^$second,two,record,alive"
"$kymo" run -- "$numbers" --rate 2000 --seconds 300 "$scratch/n" &
program=$!
wait_for in_status "^$program,numbers,record,alive"
wait_for is_past "$scratch/n" 500
(apart "$kymo" status --format csv) >"$scratch/seen"
same "alive, as a container sees it" 2 "$(grep -c ',record,alive,' "$scratch/seen")"
kill -KILL "$program"
wait "$program" 2>/dev/null
wait_for region_count 1				# its end was noticed, by the lock that it held
(apart "$kymo" stop -q)
wait "$recorder" || fail "the recorder gave $?"
same "states" killed,running "$(state_in "$scratch/c")"
reads "$scratch/c" >/dev/null
/usr/bin/python3 -B - "$KYMO_SOURCE/tests/system/lib" "$scratch/c" "$program" "$scratch/n" <<'PY' || fail "not all is there"
import struct, sys
sys.path.insert(0, sys.argv[1])
import libctf
noted = struct.unpack('<2Q', open(sys.argv[4], 'rb').read(16))
lanes = {lane.events[0].fields[0][1]: [e.fields[1][1] for e in lane.events]
         for (pid, tid), lane in libctf.read_trace(sys.argv[2], 'ros2:rcl_publish').items() if pid == int(sys.argv[3])}
for thread, last in enumerate(noted):
    assert lanes[thread] == list(range(1, lanes[thread][-1] + 1)) and lanes[thread][-1] >= last, (thread, last)
PY
kill "$second"
wait "$two" 2>/dev/null

# ---- a program that becomes another one, which has nothing of kymo in it ----
run 0 "$kymo" start -q -o "$scratch/d"
LD_LIBRARY_PATH=$(dirname "$(ldd "$numbers" | sed -n 's/.*libtracetools.so => \([^ ]*\).*/\1/p')") \
	"$kymo" run -- /usr/bin/python3 -c 'import ctypes, os
ctypes.CDLL("libtracetools.so", ctypes.RTLD_GLOBAL)
ctypes.CDLL(None).ros_trace_rcl_publish(ctypes.c_void_p(1), ctypes.c_void_p(2))
os.environ.pop("LD_PRELOAD")
os.execv("/bin/sleep", ["sleep", "300"])' &
program=$!
becomes_sleep() {
	[ "$(readlink "/proc/$program/exe")" = "$(readlink -f /bin/sleep)" ]
}
wait_for becomes_sleep
wait_for region_count 0
run 0 "$kymo" stop -q
same "states" replaced "$(state_in "$scratch/d")"
kill "$program"
wait "$program" 2>/dev/null

# ---- the directory is mounted elsewhere ----
mkdir "$scratch/elsewhere"
run 0 "$kymo" start -q -o "$scratch/e"
run 0 unshare $user --mount --pid --fork --mount-proc sh -c 'mount --bind "$1" "$2" && KYMO_DIR=$2 exec "$3" run -- "$4" --rate 2000 --seconds 0.1 "$5"' \
	sh "$KYMO_DIR" "$scratch/elsewhere" "$kymo" "$numbers" "$scratch/n"
run 0 "$kymo" stop -q
same "recorded" "$(noted "$scratch/n")" "$(field "$scratch/e" totals recorded)"

# ---- root records for another user, and is told what is not theirs ----
other=12345
as() {
	setpriv --reuid "$other" --regid "$other" --clear-groups "$@"
}
chmod 711 "$scratch"
if [ "$(id -u)" = 0 ] && as test -r "$KYMO_BUILD/lib/libkymo-ros2.so" && as test -x "$numbers"; then
	mkdir -m 700 "$scratch/theirs" "$scratch/outside"
	chown "$other" "$scratch/theirs" "$scratch/outside"
	(KYMO_DIR=$scratch/theirs exec setpriv --reuid "$other" --regid "$other" --clear-groups \
		"$kymo" run -- "$numbers" --rate 2000 --seconds 300 "$scratch/outside/n") &	# exec: to be ended by its pid
	program=$!
	export KYMO_DIR=$scratch/theirs
	wait_for in_status 'numbers,wait,alive'
	run 0 "$kymo" start -q -o "$scratch/f"
	wait_for in_status 'numbers,record,alive'
	wait_for is_past "$scratch/outside/n" 500
	run 0 as "$kymo" pause -q			# whose programs they are may ask, too
	wait_for in_status 'numbers,prepare,alive'
	# A file of a third user, and one with two names.
	region=$(find "$KYMO_DIR" -name '*.region')
	cp -p "$region" "$scratch/third"
	chown 54321 "$scratch/third"
	mv "$scratch/third" "$KYMO_DIR/1-1.region"
	run 0 "$kymo" status
	has out "belongs to uid 54321, not to the directory's owner"
	rm "$KYMO_DIR/1-1.region"
	ln "$region" "$scratch/again"
	run 0 "$kymo" status
	has out "second hard link"
	rm "$scratch/again"
	run 0 "$kymo" stop -q
	same "processes" 1 "$(field "$scratch/f" totals processes)"
	kill "$program"
	wait "$program" 2>/dev/null
	# And not the other way round.
	export KYMO_DIR=$scratch/run
	run 1 as "$kymo" status
	has err "$KYMO_DIR"
fi

# ---- another clock: what cannot be read is refused, and told ----
later() {	# COMMAND...: where CLOCK_MONOTONIC is 1,000,000 s ahead
	exec unshare $user --time --monotonic 1000000 --boottime 1000000 --fork --kill-child "$@"
}
if (later true) 2>/dev/null; then
	clock_told() {	# NAME
		grep -q "($1) is not recorded: it is in another time namespace" "$scratch/clock.err"
	}
	("$kymo" record -q -o "$scratch/clock" 2>"$scratch/clock.err") &
	recorder=$!
	wait_for in_status "^# state,record"
	("$kymo" run -- "$numbers" --rate 2000 --seconds 300 "$scratch/n.here") &
	one=$!
	(later "$kymo" run -- "$numbers" --rate 2000 --seconds 300 "$scratch/n.there") &
	two=$!
	wait_for clock_told numbers
	wait_for is_past "$scratch/n.here" 500
	wait_for in_status ",numbers,record,alive"
	wait_for in_status ",numbers,wait,alive"
	run 1 "$kymo" doctor -p "$(pgrep -P "$two")"
	has out "it is in another time namespace, so its clock is not that of a recorder here"
	run 0 "$kymo" doctor -p "$one"
	kill -KILL $one $two
	wait $one $two 2>/dev/null
	run 0 "$kymo" stop -q
	wait $recorder
	same "processes with our clock" 1 "$(field "$scratch/clock" totals processes)"
	# A killed program has not noted the last event of each thread.
	sum=$(($(field "$scratch/clock" totals recorded) + $(field "$scratch/clock" totals dropped)))
	missing=$(($(noted "$scratch/n.here") - sum))
	[ $missing -le 0 ] && [ $missing -ge -2 ] || fail "$missing events are missing"
else
	echo "skipped in part: no time namespaces here"
fi

finish
