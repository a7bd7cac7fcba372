#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tracer's tests, the hooks and an instrumented program, cross-built for aarch64 and run by qemu.
# The emulator has the instructions, not the weak memory order: that part is argued in
# docs/decisions/event-path.md and checked by tests/model.
set -eu
cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null && command -v qemu-aarch64 >/dev/null ||
	{ echo "skipped: $cc and qemu-aarch64 are needed"; exit 77; }
grep -q 'KYMO_SANITIZE:STRING=.' "$KYMO_BUILD/CMakeCache.txt" && { echo "skipped: cross-built without sanitizers"; exit 77; }
work=$(mktemp -d /dev/shm/kymo-aarch64-XXXXXX)
export KYMO_DIR=$work/run QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
trap 'rm -rf "$work"' EXIT
cd "$KYMO_SOURCE"

fail() {
	echo "aarch64.sh: $*" >&2
	exit 1
}

flags="-std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Isrc -Iinclude"
for source in tests/unit/tracer_*.c; do
	test=$work/$(basename "$source" .c)
	$cc $flags -static -Itests/cross -Itests/unit -o "$test" "$source" src/tracer/*.c
	for clock in vdso counter; do	# the counter is CNTVCT_EL0 there
		KYMO_CLOCK=$clock qemu-aarch64 "$test" >"$work/out" 2>&1 || [ $? = 77 ] ||
			fail "$source, $clock: $(cat "$work/out")"
	done
done

# Both libraries, as they are built at home.
shared="-shared -fPIC -fvisibility=hidden -ftls-model=initial-exec -Wl,-z,now -Wl,--no-undefined"
$cc $flags $shared -Wl,-soname,libkymo.so.0 -o "$work/libkymo.so.0" src/tracer/*.c
ln -s libkymo.so.0 "$work/libkymo.so"
$cc $flags $shared -o "$work/libkymo-ros2.so" src/hooks/*.c -L"$work" -lkymo -Wl,-rpath,'$ORIGIN'
$cc $flags -o "$work/user_events" tests/tools/user_events.c -L"$work" -lkymo -Wl,-rpath,"$work"
$cc $flags -Iexamples/tracetools-stub -DSTUB_MAJOR=8 -DSTUB_MINOR=2 -shared -fPIC \
	-o "$work/libtracetools.so" examples/tracetools-stub/stub.c
$cc $flags -Wl,--no-as-needed -o "$work/ros_calls" tests/tools/ros_calls.c -L"$work" -ltracetools \
	-Wl,-rpath,"$work"

# The recorder here, the traced program there: the layout is the same.
record() {	# NAME PROGRAM...
	name=$1
	shift
	"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/$name" --duration 20s &
	recorder=$!
	for _ in $(seq 100); do
		"$KYMO_BUILD/bin/kymo" status | grep -q "$work/$name" && break
		sleep 0.05
	done
	qemu-aarch64 "$@" >"$work/out" 2>&1 || fail "$*: $(cat "$work/out")"
	sleep 0.3
	kill -INT $recorder
	wait $recorder || fail "record $name: $?"
	babeltrace2 "$work/$name" >"$work/text" 2>"$work/warnings" || fail "$(cat "$work/warnings")"
	[ ! -s "$work/warnings" ] || fail "babeltrace2 warns: $(cat "$work/warnings")"
}
record user "$work/user_events"
grep -q 'test:types: .*i64 = -5, ok = 1, f = 0.25, p = 0x1234, s = "an array"' "$work/text" || fail "$(cat "$work/text")"
[ "$(grep -c 'test:inner_end' "$work/text")" = 2 ] || fail "$(cat "$work/text")"
record ros -E LD_PRELOAD="$work/libkymo-ros2.so" "$work/ros_calls" THREE_ARGUMENTS 1000
[ "$(grep -c 'ros2:rmw_publish: .*message = 0x400' "$work/text")" = 1000 ] || fail "$(tail "$work/text")"
