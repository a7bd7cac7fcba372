#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: answers
# Traces as they lie about: many in one tree, of several hosts; larger than memory; being written.
. "$KYMO_SOURCE/tests/system/lib/libtest.sh"
export KYMO_DIR=$scratch/run
data=$KYMO_SHARED/data
fixture=$KYMO_SOURCE/tests/fixtures/lifecycle/ust/uid/0/64-bit
numbers=$KYMO_BUILD/tests/numbers

events() {
	"$kymo" dump "$1" 2>/dev/null | wc -l
}

# ---- several traces in one tree
tree=$scratch/tree
add() {
	PYTHONPATH=$KYMO_SOURCE/tests/system/lib python3 -c 'import sys, lib_test; lib_test.another_trace(*sys.argv[1:])' \
		"$fixture" "$tree/$1"
	chmod -R u+w "$tree/$1"
}
one=$(events "$fixture")
[ "$one" -gt 500 ] || fail "the fixture has $one events"
add session/ust/uid/1000/64-bit
add session/ust/pid/talker-17-20261120-101500
add snapshot-1-20261120-0/ust/uid/1000/64-bit
add other_host/ust/uid/0/64-bit
# The clock of the other host is a second ahead, and its name is another (LTTng's metadata come in packets: same sizes).
offset=$(grep -a -o 'offset = [0-9]*' "$fixture/metadata" | tail -1 | cut -d' ' -f3)
sed -i "s/offset = $offset/offset = $((offset + 1000000000))/; s/hostname = \"vm\"/hostname = \"wm\"/" \
	"$tree/other_host/ust/uid/0/64-bit/metadata"
run 0 "$kymo" dump "$tree"
grep -q "times are those of" "$scratch/err" || fail "two hosts, and nothing says whose clock it is"
[ "$(wc -l <"$scratch/out")" -eq $((4 * one)) ] || fail "four traces have $(wc -l <"$scratch/out") events, one has $one"
cut -c1-20 "$scratch/out" | sort -c 2>/dev/null || fail "four traces are not in order of time"
[ "$(grep -c ' wm ros2:' "$scratch/out")" -eq "$one" ] || fail "the other host's events are not its own"
run 0 "$kymo" info "$tree"
has out wm
if [ -d "$data" ]; then
	sum=0
	for metadata in $(find "$data/ros2-traces" -name metadata); do
		sum=$((sum + $(events "$(dirname "$metadata")")))
	done
	run 0 "$kymo" dump --merge "$data/ros2-traces"
	[ "$(wc -l <"$scratch/out")" -eq "$sum" ] || fail "all of data/ has $(wc -l <"$scratch/out") events, its parts $sum"
	cut -d' ' -f2 --complement "$scratch/out" | cut -c1-20 | sort -c 2>/dev/null ||
		fail "all of data/ is not in order of time"
fi

# ---- recordings that have nothing to do with each other are not read as one
runs=$scratch/runs
mkdir -p "$runs/b/ust"
cp -r "$fixture/." "$runs/b/ust"
chmod -R u+w "$runs"
cp -r "$runs/b" "$runs/a"
offset=$(grep -a -o 'offset = [0-9]*' "$fixture/metadata" | tail -1 | cut -d' ' -f3)
sed -i "s/offset = $offset/offset = $((offset - 60000000000))/" "$runs/a/ust/metadata"
for verb in report why flow info dump events query export 'export --format sqlite' 'export --format ctf' 'export --format svg' \
	'export --format caret-architecture' open; do
	run 2 "$kymo" $verb "$runs"
	[ ! -s "$scratch/out" ] || fail "$verb of several recordings answers: $(cat "$scratch/out")"
	head -1 "$scratch/err" | grep -qFx "kymo ${verb%% *}: $runs holds 2 recordings: choose one, or add --merge" ||
		fail "$verb does not begin with the error: $(cat "$scratch/err")"
	[ "$(tail -n +2 "$scratch/err" | grep -cE '^    2[0-9-]+ .* [ab]$')" -eq 2 ] && [ "$(wc -l <"$scratch/err")" -eq 3 ] ||
		fail "$verb lists other recordings: $(cat "$scratch/err")"
done
run 0 "$kymo" query "$runs" --merge 'SELECT 1'
# But one that was appended, however late, belongs to the one above it.
appended=$scratch/walk
cp -r "$runs/a" "$appended"
cp -r "$runs/b" "$appended/append-20261120202358"
run 0 "$kymo" dump "$appended" && [ "$(wc -l <"$scratch/out")" -eq $(($(events "$runs/a") + $(events "$runs/b"))) ] ||
	fail "an appended recording is not read with the first: $(cat "$scratch/err")"
run 0 "$kymo" export "$runs" --merge -o "$scratch/all.pftrace"
run 0 "$kymo" list "$runs" --merge
for verb in report why flow info dump; do
	"$kymo" $verb "$runs" --merge >/dev/null 2>"$scratch/err" || [ $? -eq 6 ] || fail "$verb --merge: $(cat "$scratch/err")"
	"$kymo" $verb "$runs/a" "$runs/b" >/dev/null 2>"$scratch/err" || [ $? -eq 6 ] || fail "$verb of two: $(cat "$scratch/err")"
	"$kymo" $verb "$runs/a/" >/dev/null 2>"$scratch/err" || [ $? -eq 6 ] || fail "$verb of one: $(cat "$scratch/err")"
done
# Parts of one recording may be apart in time: domains, chunks, snapshots. So may hosts, whose clocks differ.
mkdir "$runs/one"
mv "$runs/a/ust" "$runs/one/kernel"
mv "$runs/b/ust" "$runs/one/ust"
rmdir "$runs/a" "$runs/b"
run 0 "$kymo" report "$runs"
mkdir "$runs/two"
mv "$runs/one/kernel" "$runs/two/ust"
sed -i "s/hostname = \"vm\"/hostname = \"wm\"/" "$runs/two/ust/metadata"
run 0 "$kymo" report "$runs"

# ---- a trace that does not exist is not a callback; a name of ROS is no path
run 3 "$kymo" why "$scratch/nope"
has err "cannot open the trace $scratch/nope: No such file or directory; name a trace directory (\"kymo ls\" lists them)"
run 3 "$kymo" why ./nope
run 0 "$kymo" why "$fixture" '/lc_talker*'
(cd "$fixture/.." && ROS_TRACE_DIR=$scratch/none run 3 "$kymo" why /lc_talker)
has err "neither a trace"

# ---- larger than memory: three packets, the second of 6 GiB, most of it a hole
PYTHONPATH=$KYMO_SOURCE/tests/system/read python3 - "$scratch" <<'PY' || fail "cannot make a large trace"
import os, sys
import dump_kernel
d = os.path.join(sys.argv[1], 'large')
os.mkdir(d)
dump_kernel.plain(d, ['one'], {'one': 1700000000})
with open(os.path.join(d, 's0'), 'r+b') as f:
    data = f.read()
    half, huge = len(data) // 2, 6 << 30
    f.seek(half)
    second = bytearray(data[half:])
    second[56:64] = (huge * 8).to_bytes(8, 'little')       # packet_size, behind two times and content_size
    f.write(second)
    f.seek(half + huge)
    f.write(data[half:])
PY
limits="200000 unlimited"
# Sanitizers lay claim to address space without end.
grep -q 'KYMO_SANITIZE:STRING=.' "$KYMO_BUILD/CMakeCache.txt" && limits=unlimited
for limit in $limits; do
	(ulimit -v $limit && "$kymo" dump "$scratch/large" >"$scratch/out" 2>"$scratch/err") || fail "a large file under $limit"
	[ "$(wc -l <"$scratch/out")" -eq 75 ] || fail "a file of 6 GiB has $(wc -l <"$scratch/out") events, not 75"
done
rm "$scratch/large/s0"

# ---- what is not a file, or has no end: no verb waits for it, or reads it
strange=$scratch/strange
# strange NAME: a trace of its own in $strange whose file NAME is gone.
strange() {
	rm -rf "$strange"
	mkdir "$strange"
	cp -r "$fixture/." "$strange"
	chmod -R u+w "$strange"
	mkdir -p "$strange/index"
	rm -f "$strange/$1"
}
# ends STATUS WHAT: every verb ends within five minutes, with STATUS or with 6 (nothing to show).
ends() {
	for verb in info 'dump --count 5' report list 'query SELECT+count(*)+FROM+callbacks' flow; do
		IFS=' ' read -r -a words <<<"$verb"
		timeout 300 "$kymo" "${words[0]}" ${words[1]:+"${words[1]//+/ }"} ${words[2]:+"${words[2]}"} "$strange" \
			>"$scratch/out" 2>"$scratch/err" </dev/null
		status=$?
		[ "$status" -eq "$1" ] || [ "$status" -eq 6 ] || fail "$2: ${words[0]} ends with $status: $(head -2 "$scratch/err")"
	done
}
stream=$(cd "$fixture" && ls | grep -v -e metadata -e index | head -1)
for file in metadata kymo.json "index/$stream.idx" index/sync another_0; do
	expected=0
	[ "$file" = metadata ] && expected=3
	strange "$file"
	mkfifo "$strange/$file"
	ends $expected "$file is a FIFO"
	rm "$strange/$file"
	ln -s /dev/zero "$strange/$file"
	ends $expected "$file is /dev/zero"
	rm "$strange/$file"
	truncate -s 64G "$strange/$file"
	ends $expected "$file is 64 GiB of nothing"
done
run 3 "$kymo" info "$scratch/strange/nothing"
strange kymo.json
mkfifo "$strange/kymo.json"
"$kymo" report "$strange" >/dev/null 2>"$scratch/err"
has err "kymo.json: cannot be opened: not a regular file"
rm -rf "$strange"

# ---- while it is written
"$kymo" record -q -o "$scratch/live" -- "$numbers" --threads 3 --rate 10000 --seconds 600 "$scratch/n" 2>"$scratch/record.err" &
recorder=$!
begun() { find "$scratch/live" -name metadata -size +0 | grep -q .; }
wait_for begun
"$kymo" dump --follow "$scratch/live" >"$scratch/followed" 2>"$scratch/follow.err" &
follower=$!
looks=0 last=0 until=$((SECONDS + 300))
while [ "$looks" -le 2 ] || [ "$last" -le 5000 ]; do
	[ "$SECONDS" -lt "$until" ] || { kill $recorder $follower; die "$looks looks at $last events in five minutes"; }
	run 0 "$kymo" dump "$scratch/live"
	now=$(wc -l <"$scratch/out")
	[ "$now" -ge "$last" ] || fail "a growing trace had $last events, then $now"
	last=$now looks=$((looks + 1))
done
kill -TERM $recorder	# which ends the command, too
wait $recorder || fail "the recorder: $(cat "$scratch/record.err")"
total=$(events "$scratch/live")
# The follower sees the end within its next look; wait for that, not for a time.
all_followed() { [ "$(wc -l <"$scratch/followed")" -ge "$total" ]; }
wait_for all_followed
kill -INT $follower
wait $follower || fail "dump --follow ended with $?"
strip() { sed 's/(+[^)]*)//' | sort; }
"$kymo" dump "$scratch/live" | strip | cmp -s - <(strip <"$scratch/followed") ||
	fail "dump --follow printed $(wc -l <"$scratch/followed") events of $total: $(head -3 "$scratch/follow.err")"
# What the tracer lost on a busy machine is told, and right.
! grep -v 'the tracer lost' "$scratch/follow.err" >"$scratch/warned" || fail "dump --follow warned: $(head -3 "$scratch/warned")"
finish
