#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: answers
# list and info on a real trace; and every reading verb on what is no trace, or a damaged one.
. "$KYMO_SOURCE/tests/system/lib/libtest.sh"

data=$KYMO_SHARED/data
fixture=$KYMO_SOURCE/tests/fixtures/lifecycle
trace=$scratch/trace
copy() {
	rm -rf "$trace"
	cp -r "$fixture" "$trace"
	chmod -R u+w "$trace"
	inside=$trace/ust/uid/0/64-bit
}

# ---- list
run 0 "$kymo" list "$fixture" --format csv
has out 'ros2:callback_start,46,'
has out '"callback: u64 (hex), is_intra_process: i32"'
has out 'gid: u8[24]'
[ "$(awk -F, 'NR > 1 { n += $2 } END { print n }' "$scratch/out")" -eq 596 ] || fail "list counts other than 596 events"
run 0 "$kymo" list "$fixture" --event 'ros2:rcl_init'
[ "$(grep -c '^ros2:' "$scratch/out")" -eq 1 ] || fail "--event shows more than one event"
run 6 "$kymo" list "$fixture" --event nope
has out 'matches --event'
run 0 "$kymo" list --points --format csv
has out 'ros2:callback_start,run,all,"callback: u64 (hex), is_intra_process: i32"'
has out 'ros2:rcl_init,init,'
run 2 "$kymo" list --points "$fixture"

# Without a trace: the newest one.
mkdir "$scratch/home"
cp -r "$fixture" "$scratch/home/session-20990101000000"
ROS_TRACE_DIR=$scratch/home run 0 "$kymo" info --format json
has out session-20990101000000
# A directory that a recorder left before anything was in it is none.
mkdir "$scratch/home/session-20990101000001"
ROS_TRACE_DIR=$scratch/home run 0 "$kymo" report --format json
has out 'session-20990101000000"'
ROS_TRACE_DIR=$scratch/nothing run 3 "$kymo" info

# What is to be typed next works as it stands, whatever the path.
cp -r "$fixture" "$scratch/my trace's"
run 0 "$kymo" report "$scratch/my trace's"
next=$(sed -n 's/^kymo \(report .*--all\).*/\1/p' "$scratch/out")
eval "run 0 \"\$kymo\" $next"
has out 'Callback'

# No SQL is no answer.
for sql in '' ' ;'; do
	run 2 "$kymo" query "$fixture" "$sql"
	has err 'no SQL given'
done

# ---- info
run 0 "$kymo" info "$fixture" --format json
python3 - "$scratch/out" <<'PY' || fail "info tells something else of the fixture"
import json, sys
i = json.load(open(sys.argv[1]))
assert i['events'] == 596 and i['lost'] == 0 and i['lost_packets'] == 0, i
assert i['begin_ns'] == 1795206336328671318, i['begin_ns']
assert [(p['pid'], p['name'], p['events']) for p in i['processes']] == [(19029, 'lifecycle_proc', 596)]
assert sum(t['events'] for t in i['threads']) == 596
assert i['traces'][0]['host'] == 'vm' and i['traces'][0]['tracer'] == 'lttng-ust'
assert sum(s['packets'] for s in i['streams']) == i['packets'] and i['losses'] == [] and i['warnings'] == []
PY
run 0 "$kymo" info "$fixture" --strict
empty err

# The recorder's accounts, when there are some: what never reached a packet is lost as well.
copy
cat >"$trace/kymo.json" <<'JSON'
{ "kymo": "1", "ended": true, "totals": { "recorded": 596, "dropped": 7, "unwritten": 1 },
  "processes": [ { "pid": 19029, "procname": "lifecycle_proc", "state": "killed", "dropped": 7,
    "threads": [ { "tid": 19029, "name": "main", "dropped": 7 } ] } ] }
JSON
run 0 "$kymo" info "$trace"
has out 'Lost events: 8'
has out 'ended in order'
has out killed
run 4 "$kymo" info "$trace" --strict
sed -i 's/"ended": true/"ended": false/' "$trace/kymo.json"	# then what it had not told was told by the next recorder
run 0 "$kymo" info "$trace" --strict
has out 'Lost events: 0'
has out 'did not end in order'
has out killed
echo '[ "no object"' >"$trace/kymo.json"
run 0 "$kymo" info "$trace"
has out 'kymo.json: not a JSON object'
for json in '{"totals":[1],"processes":{"a":2}}' '{"processes":[1,null,{"threads":"x","pid":"y"}]}' ''; do
	echo "$json" >"$trace/kymo.json"
	run 0 "$kymo" info "$trace"
done

if existing "$data/ros2-traces/discarded"; then
	lost=$(babeltrace2 "$data/ros2-traces/discarded/ctf" 2>&1 >/dev/null |
		sed -n 's/.*discarded \([0-9]*\) event.*/\1/p' | awk '{ n += $1 } END { print n }')
	run 4 "$kymo" info "$data/ros2-traces/discarded" --strict --format json
	has out "\"lost\": $lost,"
	run 4 "$kymo" dump "$data/ros2-traces/discarded" --strict
fi

# ---- what is no trace
mkdir "$scratch/empty" "$scratch/only_file"
echo hello >"$scratch/only_file/ros2_0"
for verb in dump list info; do
	run 3 "$kymo" $verb "$scratch/missing"
	has err "$scratch/missing: No such file"
	run 3 "$kymo" $verb "$scratch/empty"
	has err 'not a CTF trace'
	run 3 "$kymo" $verb "$scratch/only_file"
	run 3 "$kymo" $verb "$scratch/only_file/ros2_0"
	has err 'is not a directory'
	run 2 "$kymo" $verb "$fixture" "$fixture"
	copy
	: >"$inside/metadata"
	run 3 "$kymo" $verb "$trace"
	has err 'the metadata is empty; the file is cut off, so copy it again from where the trace was recorded'
	for bytes in 20 3000; do
		head -c "$bytes" "$fixture/ust/uid/0/64-bit/metadata" >"$inside/metadata"
		run 3 "$kymo" $verb "$trace"
		has err "$inside/metadata: byte $bytes: expected a metadata packet"
		has err 'found the end of the metadata; the file is cut off, so copy it again'
	done
	head -c 5000 "$fixture/ust/uid/0/64-bit/metadata" >"$inside/metadata"
	run 0 "$kymo" $verb "$trace"	# as if it were just being written
	cat "$scratch/out" >>"$scratch/err"	# info shows warnings as a table
	has err "$inside/metadata:152:12: expected ;, found the end of the metadata; the rest of the metadata is left out"
	head -c 4000 /dev/zero >"$inside/metadata"
	run 3 "$kymo" $verb "$trace"
	printf 'trace { major = 1; minor = 8; byte_order = le; };\nevent { id = x; };' >"$inside/metadata"
	run 3 "$kymo" $verb "$trace"
	has err "$inside/metadata:2:14: expected a number"
done

# ---- damaged streams: the rest is given, with a warning
copy
echo 'not a stream' >"$inside/stray"
: >"$inside/nothing_yet"
truncate -s 20 "$inside/ros2_0"
run 0 "$kymo" dump "$trace"
has err 'stray: byte 0'
has err 'ros2_0: byte 0'
[ "$(wc -l <"$scratch/out")" -gt 500 ] || fail "the good stream is not given"
run 0 "$kymo" info "$trace"
has out 'stray: byte 0'
copy
size=$(stat -c %s "$inside/ros2_1")
truncate -s $((size - 3000)) "$inside/ros2_1"
run 0 "$kymo" dump "$trace"
[ "$(grep -c 'cut off: ' "$scratch/err")" -le 1 ] || fail "more than one warning for a cut tail"
copy
rm -r "$inside/index"
run 0 "$kymo" dump "$trace"
[ "$(wc -l <"$scratch/out")" -eq 596 ] || fail "without indexes there are $(wc -l <"$scratch/out") events"
empty err
chmod 0 "$inside/ros2_0"
somebody=()
if [ "$(id -u)" -eq 0 ]; then
	somebody=(setpriv --reuid 65534 --clear-groups)
	chmod 755 "$scratch"
fi
if "${somebody[@]}" test -r "$inside/metadata" -a -x "$kymo" 2>/dev/null; then
	run 0 "${somebody[@]}" "$kymo" dump "$trace"
	has err 'cannot be opened'
	[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more than one warning for one file: $(cat "$scratch/err")"
fi
finish
