#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: plain, long
# The tracer's tests, the hooks and an instrumented program, cross-built for aarch64 and run by qemu.
# The emulator has the instructions, not the weak memory order: that part is argued in
# docs/decisions/event-path.md and checked by tests/model.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
set -e
work=$scratch
cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null && command -v qemu-aarch64 >/dev/null ||
	{ echo "skipped: $cc and qemu-aarch64 are needed"; exit 77; }
! sanitized || skip "cross-built without sanitizers"
export KYMO_DIR=$work/run QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
program=
trap '[ -z "$program" ] || kill -9 "$program" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$KYMO_SOURCE"

flags="-std=gnu11 -O1 -Wall -Wextra -Wno-format-truncation -Werror -D_GNU_SOURCE -Isrc -Iinclude"
# With what they use of the recorder's side.
for source in src/inside/tracer/*.c src/recorder/{runtime/{rundir,domain,claim,alive,counts_left,region_view,initlog_cursor},records/left_out_set}.c src/base/{err,points,shared_map,text}.c; do
	$cc $flags -c -o "$work/$(basename "$(dirname "$source")")-$(basename "$source" .c).o" "$source"
done
"${cc%gcc}ar" rcs "$work/all.a" "$work"/*.o	# a test may bring one of them itself
for source in tests/unit/tracer/tracer_*.c; do
	$cc $flags -static -Itests/cross -Itests/unit/lib -o "$work/test_$(basename "$source" .c)" "$source" "$work/all.a"
done
export KYMO_STRESS_RECORDS=50000	# the emulator takes ten times as long
for clock in vdso counter; do	# the counter is CNTVCT_EL0 there
	for test in "$work"/test_*; do
		case $clock$test in	# the same with both: it has a clock of its own, or looks at no time
		counter*_clock | counter*_initlog | counter*_overwrite | counter*_spare) continue ;;
		esac
		KYMO_DIR=$work/run-$clock KYMO_CLOCK=$clock qemu-aarch64 "$test" >"$work/out-$clock" 2>&1 || [ $? = 77 ] ||
			die "$test, $clock: $(cat "$work/out-$clock")"
	done &
	case $clock in vdso) first=$! ;; *) second=$! ;; esac
done
wait "$first"
wait "$second"

# Both libraries, as they are built at home.
shared="-DKYMO_IS_SHARED -shared -fPIC -fvisibility=hidden -ftls-model=initial-exec -Wl,-z,now -Wl,--no-undefined"
$cc $flags $shared -Wl,-soname,libkymo.so.0 -o "$work/libkymo.so.0" src/inside/tracer/*.c
ln -s libkymo.so.0 "$work/libkymo.so"
$cc $flags $shared -Wl,-soname,libkymo-ros2.so -o "$work/libkymo-ros2.so" src/inside/ros2/*.c src/inside/ros2/late/*.c -L"$work" -lkymo -Wl,-rpath,'$ORIGIN'
$cc $flags -Iexamples/tracetools-stub -DSTUB_MAJOR=8 -DSTUB_MINOR=2 -shared -fPIC \
	-o "$work/libtracetools.so" examples/tracetools-stub/stub.c
cat >"$work/loop.c" <<'C'
#include <kymo/loop.h>
int main(void)
{
	struct kymo_loop loop;

	KYMO_LOOP_INIT(&loop, "test", "loop", 1000000, 0);
	for (int i = 0; i < 20; i++)
		kymo_loop_wait(&loop);
	kymo_loop_end(&loop);
	return 0;
}
C
for source in tests/tools/{user_events,ros_calls,signal_storm,scale,numbers}.c "$work/loop.c"; do
	$cc $flags -Iexamples/tracetools-stub -Wl,--no-as-needed -rdynamic -o "$work/$(basename "$source" .c)" "$source" \
		-L"$work" -lkymo -ltracetools -Wl,-rpath,"$work"
done
cat >"$work/plugin.c" <<'C'
#include <kymo/kymo.h>
unsigned say(void);
unsigned say(void) { KYMO_SPAN("plugin", NAME); KYMO_COUNTER("plugin", NAME " level", 0.5); return 3; }
C
for number in 1 2 3; do
	$cc $flags "-DNAME=\"number $number\"" -shared -fPIC -o "$work/plugin-$number.so" "$work/plugin.c" -L"$work" -lkymo
done

# The recorder here, the traced program there: the layout is the same.
all_taken() {	# what the program left in shared memory
	! ls "$KYMO_DIR" | grep -q '\.region$'
}
record() {	# NAME PROGRAM...
	name=$1
	shift
	"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/$name" --duration 600s 2>"$work/said" &
	recorder=$!
	wait_for in_status "$work/$name"
	qemu-aarch64 "$@" >"$work/out" 2>&1 || die "$*: $(cat "$work/out")"
	wait_for all_taken || die "record $name: $(ls "$KYMO_DIR") $(cat "$work/said")"
	kill -INT $recorder
	wait $recorder || die "record $name: $(cat "$work/said")"
	babeltrace2 "$work/$name" >"$work/text" 2>"$work/warnings" || die "$(cat "$work/warnings")"
	! grep -v 'Tracer discarded' "$work/warnings" || die "babeltrace2 warns"	# how many is checked by exact()
}
exact() {	# NAME PRODUCED: recorded + dropped is that, and babeltrace2 reads what is recorded
	python3 -c 'import json, sys; t = json.load(open(sys.argv[1]))["totals"]
print(t["recorded"], t["dropped"] + t["unwritten"])' "$work/$1/kymo.json" >"$work/totals"
	read -r recorded lost <"$work/totals"
	[ $((recorded + lost)) = "$2" ] || die "$1: $recorded recorded and $lost lost, not $2"
}
produced() {	# as the program said last
	sed -n 's/.*"produced": \([0-9]*\).*/\1/p' "$work/out" | tail -1
}
preload="LD_PRELOAD=$work/libkymo-ros2.so"

record user "$work/user_events"
grep -q 'test:types: .*i64 = -5, ok = 1, f = 0.25, p = 0x1234, s = "an array"' "$work/text" || die "$(cat "$work/text")"
[ "$(grep -c 'test:inner_end' "$work/text")" = 2 ] || die "$(cat "$work/text")"
record ros -E "$preload" "$work/ros_calls" THREE_ARGUMENTS 1000
[ "$(grep -c 'ros2:rmw_publish: .*message = 0x400' "$work/text")" = 1000 ] || die "$(tail "$work/text")"

# Signals inside spans and hooks. Each begin that was recorded has tried an end.
record signals -E "$preload" "$work/signal_storm" 20000
exact signals $(($(sed -n 's/.*"thread": \([0-9]*\), "handler": \([0-9]*\).*/\1 + \2/p' "$work/out") + $(grep -c '_begin: ' "$work/text")))
grep -q 'handler:outer_end: ' "$work/text" || die "no signal landed"

# Threads and libraries that come and go, a periodic loop.
record threads "$work/scale" threads 512 5
exact threads "$(produced)"
record live "$work/scale" live 60 5
exact live "$(produced)"
record libraries "$work/scale" libraries 3 "$work"/plugin-*.so
exact libraries "$(produced)"
[ "$(grep -c 'plugin:number 2_end: ' "$work/text")" = 3 ] || die "$(cat "$work/text")"
record periodic "$work/loop"
[ "$(grep -c 'test:loop_end: ' "$work/text")" = 20 ] || die "$(cat "$work/text")"

# Controllers of ros2_control: a result in memory, whose address is in a register of its own, and a pair.
if command -v aarch64-linux-gnu-g++ >/dev/null; then
	cxx="aarch64-linux-gnu-g++ -std=c++17 -O1 -fPIC -Iexamples/tracetools-stub -Isrc"
	for pair in "" -DPAIR; do
		libraries="-L$work -ltracetools -Wl,-rpath,$work"
		for library in hardware_interface:HARDWARE controller_interface:CONTROLLER controller_manager:MANAGER; do
			$cxx $pair "-D${library#*:}" -shared -o "$work/lib${library%:*}.so" tests/rclcpp/control.cpp $libraries
			libraries="-l${library%:*} $libraries"
		done
		$cxx $pair -o "$work/control" tests/rclcpp/control.cpp $libraries
		record "controllers$pair" -E "$preload" "$work/control" 20
		[ "$(grep -c 'symbol = "arm_controller::update"' "$work/text")" = 1 ] || die "$(cat "$work/text")"
		# Of each cycle: three of the manager, four of two components, three of three controllers, one of the planner.
		[ "$(grep -c 'ros2:callback_start: ' "$work/text")" = 220 ] || die "$(grep -c callback_start "$work/text")"
	done
fi

# What kymo attach changes in a program, without the ptrace that the emulator lacks: bound lazily and at once, and with a PLT of no
# entries of its own.
$cc $flags -shared -fPIC -o "$work/libkymo-attach.so" src/inside/attach/attach.c
for how in "-Wl,-z,lazy" "-Wl,-z,now -Wl,-z,relro" "-fno-plt" "-no-pie -Wl,-z,lazy"; do
	$cc $flags -Iexamples/tracetools-stub $how -o "$work/self" tests/attach/self.c -L"$work" -ltracetools -Wl,-rpath,"$work"
	name=self${how//[^a-z]/}
	record "$name" "$work/self" "$work/libkymo-ros2.so" 100
	[ "$(grep -c 'ros2:callback_start: ' "$work/text")" = 300 ] || die "$how: $(cat "$work/text")"
done

# Without a recorder, the oldest blocks giving way: what a snapshot has of it, alive and dead, has no hole.
KYMO_FLIGHT=1 KYMO_RING_SIZE=64K qemu-aarch64 -E "$preload" "$work/numbers" --threads 2 --seconds 600 "$work/noted" &
program=$!
for state in alive dead; do
	wait_for in_status "^$program,[^,]*,flight"	# its name is the emulator's
	emitted "$work/noted" 2000
	[ $state = alive ] || { kill -9 $program; wait $program 2>/dev/null || true; }
	"$KYMO_BUILD/bin/kymo" snapshot -q -o "$work/$state" >/dev/null || die "snapshot, $state"
	babeltrace2 "$work/$state" 2>"$work/warnings" >"$work/text" || die "$state: $(cat "$work/warnings")"
	[ ! -s "$work/warnings" ] || die "$state: babeltrace2 warns: $(cat "$work/warnings")"
	python3 - "$work/text" <<'P' || die "$state: there is a hole"
import re, sys
last, count = {}, 0
for thread, number in re.findall(r"rcl_publish: .*publisher_handle = (\w+), message = (\w+)", open(sys.argv[1]).read()):
    number, count = int(number, 16), count + 1
    assert last.setdefault(thread, number - 1) == number - 1, (thread, last[thread], number)
    last[thread] = number
assert count > 1000 and len(last) == 2, count
P
done
