#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# `kymo export` as a command: where it writes, what it says, how it fails.
. "$(dirname "$0")/../lib/libtest.sh"

traces=$KYMO_SHARED/data/ros2-traces
[ -d "$traces" ] || { echo "skipped: no traces in ../shared"; exit 77; }
cp -r "$traces/pair_lifecycle/ctf" "$scratch/robot"
chmod -R u+w "$scratch/robot"
cd "$scratch" || exit 1

# expect STATUS TEXT COMMAND...: it exits so, and says TEXT.
expect() {
	local status=$1 text=$2
	shift 2
	run "$status" "$@" && has err "$text"
}

expect 0 "robot.pftrace: 46 callbacks from 596 events" "$kymo" export robot
[ -s robot.pftrace ] || fail "the default name is not robot.pftrace"
(cd robot && expect 0 "robot.pftrace: " "$kymo" export . && [ -s robot.pftrace ]) ||
	fail "'.' has no name"
run 0 "$kymo" export robot -q -o other
empty err
[ -s other ] || fail "no file other"

# A file that is there is replaced only with --force, also by a smaller one.
head -c 1000000 /dev/zero >old
expect 1 "old already exists" "$kymo" export robot -o old
[ "$(stat -c %s old)" -eq 1000000 ] || fail "the old file was touched"
run 0 "$kymo" export robot -o old --force --compress 9
[ "$(stat -c %s old)" -lt 100000 ] || fail "the old file was not replaced"
expect 0 "standard output: 46 callbacks" "$kymo" export robot --output - --compress none
[ "$(stat -c %s out)" -gt "$(stat -c %s old)" ] || fail "standard output is short"

# Without --format the suffix chooses the format; an unknown one is refused, and nothing is written.
expect 2 "known are .pftrace" "$kymo" export robot -o robot.foo
has err "--format"
[ ! -e robot.foo ] || fail "a file with an unknown suffix"
expect 2 "--format csv -o DIR; one table: --format csv --table NAME -o - > robot.csv" "$kymo" export robot -o robot.csv
expect 2 "--format json -o DIR" "$kymo" export robot -o robot.jsonl
[ ! -e robot.csv ] || fail "a file robot.csv"
run 0 "$kymo" export robot -q --format perfetto -o robot.foo
expect 0 "robot.sqlite: " "$kymo" export robot -o robot.sqlite
[ "$(head -c 15 robot.sqlite)" = "SQLite format 3" ] || fail "robot.sqlite is not a database"
expect 2 "suffix of another format" "$kymo" export robot --format perfetto -o robot.svg
[ ! -e robot.svg ] || fail "Perfetto's bytes in robot.svg"
expect 0 "one.tar: 1 trace. " "$kymo" export robot -o one.tar
tar tf one.tar | grep -q robot.pftrace || fail "one.tar is not an archive: $(tar tf one.tar 2>&1)"
expect 0 "robot.dot: " "$kymo" export robot -o robot.dot
has err "callbacks and"

expect 1 "Is a directory" "$kymo" export robot -o robot
for format in perfetto sqlite csv dot caret-architecture; do
	expect 1 "with -o" "$kymo" export robot -f $format -o nowhere/x
done
expect 1 "No space left" "$kymo" export robot -o /dev/full
expect 2 "perfetto" "$kymo" export robot --format vcd
expect 2 "compress" "$kymo" export robot --compress 10
run 2 "$kymo" export --format csv robot robot
run 3 "$kymo" export missing
[ ! -e missing.pftrace ] || fail "a file for a trace that is not there"
mkdir empty
run 3 "$kymo" export empty
[ ! -e empty.pftrace ] || fail "a file for a directory that is no trace"
if command -v script >/dev/null; then
	script -qc "'$kymo' export robot -o -" out </dev/null >/dev/null
	has out "to a terminal"
fi

# Loss.
if existing "$traces/discarded/ctf"; then
	expect 0 "5731 events and 0 packets were lost" "$kymo" export "$traces/discarded/ctf" -o lost
	expect 4 "5731 events and 0 packets were lost" "$kymo" export --strict --force "$traces/discarded/ctf" -o lost
fi
run 0 "$kymo" export --strict robot -o lossless

# Cut streams: the reader forgives, the export goes on.
stream=$(find robot -name 'ros2_0' -print -quit)
for size in 5000 20000; do
	truncate -s "$size" "$stream"
	expect 0 "cut: " "$kymo" export robot --force -o cut
done

finish
