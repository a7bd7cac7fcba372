#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# Loss of our own making, from the ring to the report: every format tells the recorder's number.
. "$(dirname "$0")/../lib/libtest.sh"
export KYMO_DIR=$scratch/run
mkdir -m 700 "$KYMO_DIR"
unset KYMO_SESSION KYMO_FORWARD ROS_HOME

"$kymo" record -q -o "$scratch/t" --ring-size 16K -- "$KYMO_BUILD/tests/numbers" --rate 5000000 --seconds 0.5 \
	"$scratch/n" 2>/dev/null
dropped=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["totals"]["dropped"])' \
	"$scratch/t/kymo.json")
[ "$dropped" -gt 0 ] || fail "nothing was dropped: the test proves nothing"

run 4 "$kymo" report --strict "$scratch/t"
has out "Lost: $dropped events"
has out "Lost events, by thread"
[ "$(head -1 "$scratch/out")" = "Incomplete: $dropped events were lost, so counts may be too low" ] ||
	fail "the first line is $(head -1 "$scratch/out")"
has err "--strict"
run 4 "$kymo" report --strict --format json "$scratch/t"
python3 - "$scratch/out" "$dropped" <<'PYTHON' || fail "the loss in json"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["lost_events"] == int(sys.argv[2]), report["lost_events"]
told = sum(row["events"] for row in report["loss"])
assert told == int(sys.argv[2]), told
assert all(row["tid"] and row["pid"] for row in report["loss"]), report["loss"][:2]
PYTHON
run 4 "$kymo" report --strict --format csv "$scratch/t"
has out "# lost_events,$dropped"

# Without the start of the programs there are no names, and that is no "Lost: nothing" either.
"$kymo" record -q -o "$scratch/named" -- "$KYMO_BUILD/tests/hostile_names" 2>"$scratch/err" || fail "$(cat "$scratch/err")"
run 0 "$kymo" report "$scratch/named"
! grep -qi '^Incomplete' "$scratch/out" || fail "a whole trace: $(head -1 "$scratch/out")"
rm "$scratch"/named/ust/*_init
run 0 "$kymo" report "$scratch/named"
head -1 "$scratch/out" | grep -q '^INCOMPLETE: 34 of 34 callbacks without a name$' || fail "first screen without names: $(head -1 "$scratch/out")"
run 0 "$kymo" report --all "$scratch/named"
head -1 "$scratch/out" | grep -q '^Incomplete: 34 of 34 callbacks have no name: ' || fail "without names: $(head -1 "$scratch/out")"
has out "Lost: nothing that was counted"
run 0 "$kymo" report --format json "$scratch/named"
has out '"incomplete": "34 of 34 callbacks'

# The recorder knows more than the packets: its number counts.
sed -i "s/\"dropped\":$dropped/\"dropped\":$((dropped + 7))/" "$scratch/t/kymo.json"
run 4 "$kymo" report --strict "$scratch/t"
has out "Lost: $((dropped + 7)) events"

# So does what the kernel did not report, in each verb that reads.
sed -i 's/^{/{"kernel":{"source":"tracefs","unseen_switches":5,"unseen_calls":6},/' "$scratch/named/kymo.json"
for verb in report why flow query export; do
	case $verb in
	query) set -- query "$scratch/named" "SELECT count(*) FROM processes" ;;
	export) set -- export "$scratch/named" -q -o "$scratch/named.pftrace" ;;
	*) set -- "$verb" "$scratch/named" ;;
	esac
	"$kymo" "$@" >"$scratch/out" 2>"$scratch/err" || true
	has err "kymo $1: warning: the kernel did not report 5 or more switches between threads"
	has err "kymo $1: warning: the kernel did not report 6 or more events of system calls"
done
run 0 "$kymo" info "$scratch/named"
has out "Switches not reported by the kernel: 5"
has out "Events of system calls not reported: 6"
finish
