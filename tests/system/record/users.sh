#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# Root records the processes of several users in one session, each from his own runtime directory: all that was
# emitted is in the trace, with whose it was; what is not theirs is refused, and who is not root is, too.
. "$(dirname "$0")/../lib/libtest.sh"
numbers=$KYMO_BUILD/tests/numbers
export KYMO_DIR=$scratch/run ROS_TRACE_DIR=$scratch/traces
export KYMO_RING_SIZE=2M	# nothing is dropped, however slow the recorder is
unset KYMO_SESSION KYMO_FLIGHT
# Numbers that nobody else has, so that /dev/shm/kymo-UID is ours.
one=$((1000000 + $$ * 4)) two=$((1000001 + $$ * 4)) third=$((1000002 + $$ * 4))
as() {	# UID COMMAND...
	setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}
chmod 711 "$scratch"
if [ "$(id -u)" != 0 ] || ! as "$one" test -r "$KYMO_BUILD/lib/libkymo-ros2.so" || ! as "$one" test -x "$numbers"; then
	[ "$(id -u)" = 0 ] || { run 2 "$kymo" record --user root -o "$scratch/no"; has err "--user requires root"; }
	echo "skipped: only root can be other users, and they must get to the build directory"
	exit 77
fi
end() {
	"$kymo" stop -q 2>/dev/null
	kill $(jobs -p) 2>/dev/null
	wait
	rm -rf "$scratch" "/dev/shm/kymo-$two" "/dev/shm/kymo-$third"
}
trap end EXIT
mkdir -m 700 "$KYMO_DIR" "$scratch/one" "$scratch/one.out" "$scratch/two.out"
chown "$one" "$scratch/one" "$scratch/one.out"
chown "$two" "$scratch/two.out"
recorded() {	# UID [STATE]: how much of his processes is in the trace, or how they ended
	python3 -c 'import json, sys
key = sys.argv[3] if len(sys.argv) > 3 else "recorded"
print(*[p[key] for p in json.load(open(sys.argv[1] + "/kymo.json"))["processes"] if p["uid"] == int(sys.argv[2])])' \
		"$trace" "$@"
}
is_past() {	# FILE COUNT
	[ "$(noted "$1")" -gt "$2" ]
}

# ---- one is there before, in a directory that is named; for two it is made, and his program comes later ----
(KYMO_DIR=$scratch/one exec setpriv --reuid "$one" --regid "$one" --clear-groups \
	"$kymo" run -- "$numbers" --rate 2000 --seconds 300 "$scratch/one.out/n") &
first=$!
there() {	# DIR PATTERN
	KYMO_DIR=$1 "$kymo" status --format csv | grep -q -- "$2"
}
wait_for there "$scratch/one" 'numbers,wait,alive'
# What another user has put there is none of his.
head -c 65536 /dev/zero >"$scratch/one/1-1.region"
chown "$third" "$scratch/one/1-1.region"
trace=$scratch/trace
run 0 "$kymo" start -o "$trace" --user "$scratch/one" --user "$two"
has err "belongs to uid $third, not to the directory's owner"
same "whose the directory is" "$two 700" "$(stat -c '%u %a' "/dev/shm/kymo-$two")"
wait_for there "$scratch/one" 'numbers,record,alive'
(unset KYMO_DIR; exec setpriv --reuid "$two" --regid "$two" --clear-groups \
	"$kymo" run -- "$numbers" --rate 2000 --seconds 300 "$scratch/two.out/n") &
second=$!
"$kymo" run -- "$numbers" --rate 2000 --seconds 0.1 "$scratch/n" || fail "root's own program"
wait_for there "/dev/shm/kymo-$two" 'numbers,record,alive'
wait_for is_past "$scratch/one.out/n" 500
wait_for is_past "$scratch/two.out/n" 500
# Each is as taken as root's own directory.
run 1 env KYMO_DIR="$scratch/one" "$kymo" record -o "$scratch/second" -d 0.1
has err "is being recorded already"
# Whose programs they are sees it, and is told that it is not his to end.
run 0 as "$two" env -u KYMO_DIR "$kymo" status
has out "$trace"
run 1 as "$two" env -u KYMO_DIR "$kymo" stop
has err "cannot ask process"
# Who is neither root nor one of them is refused by each verb, also where root left the directory open; nothing changes.
mkdir -m 755 "$scratch/open"
mkdir "$scratch/third.out"
chown "$third" "$scratch/third.out"
for dir in "$KYMO_DIR" "$scratch/open"; do
	why="belongs to uid 0, not to you (uid $third)"
	[ "$dir" = "$KYMO_DIR" ] && why="cannot use the runtime directory $dir: Permission denied"
	for verb in status stop pause resume snapshot "sink list" "record -o $scratch/third.out/t -d 0.1" "start -o $scratch/third.out/t" \
		"top --once" "serve -l 127.0.0.1:0" "recover -o $scratch/third.out/t"; do
		run 1 as "$third" env KYMO_DIR="$dir" "$kymo" $verb
		has err "$why"
	done
	run 0 as "$third" env KYMO_DIR="$dir" "$kymo" run -- true
	has err "true cannot be recorded: "
	has err "$why"
done
same "what the third user made" "" "$(ls -A "$scratch/third.out" "$scratch/open" | grep -v :)"
# A setuid program ignores the environment of whoever starts it: it is not in root's trace, see "processes" below.
install -m 4755 "$KYMO_BUILD/tests/user_events" "$scratch/setuid"
run 0 as "$third" env KYMO_DIR="$KYMO_DIR" "$scratch/setuid"
wait_for there "$scratch/one" 'numbers,record,alive'
# A pause is one of all.
run 0 "$kymo" pause -q
wait_for there "$scratch/one" 'numbers,prepare,alive'
wait_for there "/dev/shm/kymo-$two" 'numbers,prepare,alive'
run 0 "$kymo" resume -q
wait_for there "$scratch/one" 'numbers,record,alive'
# One ends while recording, one after.
kill -KILL "$first"
wait "$first" 2>/dev/null
gone() {
	[ "$(find "$scratch/one" -name '*.region' | wc -l)" = 1 ]	# the third user's
}
wait_for gone
run 0 "$kymo" stop -q
wait_for there "/dev/shm/kymo-$two" 'numbers,wait,alive'
kill "$second"
wait "$second" 2>/dev/null
same "processes" 3 "$(field "$trace" totals processes)"
same "dropped" 0 "$(field "$trace" totals dropped)"
same "states" "killed running exited" "$(recorded "$one" state) $(recorded "$two" state) $(recorded 0 state)"
same "root's own events" "$(noted "$scratch/n")" "$(recorded 0)"
[ "$(recorded "$one")" -ge 500 ] && [ "$(recorded "$two")" -ge 500 ] || fail "events: $(recorded "$one"), $(recorded "$two")"
reads "$trace" >/dev/null

# ---- a name in /dev/shm says nothing: it has to be his ----
mkdir -m 700 "/dev/shm/kymo-$third"
chown "$two" "/dev/shm/kymo-$third"
run 1 "$kymo" record -o "$scratch/b" -d 0.1 --user "$third"
has err "does not belong to uid $third"
[ -e "$scratch/b" ] && fail "a trace was made"
# Nor does a domain page that is somebody else's file by another name.
chown "$third" "/dev/shm/kymo-$third"
echo mine >"/dev/shm/kymo-$third/mine"
ln "/dev/shm/kymo-$third/mine" "/dev/shm/kymo-$third/domain"
run 1 "$kymo" record -o "$scratch/b" -d 0.1 --user "$third"
has err "has a second hard link"
same "that file" mine "$(cat "/dev/shm/kymo-$third/mine")"
run 1 "$kymo" record -o "$scratch/b" -d 0.1 --user "$scratch/nobody"
has err "there is no runtime directory $scratch/nobody"
run 2 "$kymo" record -o "$scratch/b" -d 0.1 --user "nobody-of-this-name"
has err "unknown user 'nobody-of-this-name'"
run 2 as "$one" "$kymo" record --user "$two" -o "$scratch/one.out/no"
has err "--user requires root"

finish
