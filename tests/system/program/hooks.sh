#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The preload library where it should do something, and where it should do nothing.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
set -e
work=$scratch
preload=$KYMO_BUILD/lib/libkymo-ros2.so
calls=$KYMO_BUILD/tests/ros_calls
export KYMO_DIR=$work/run

# ---- nothing to do: same output, same status, nothing left behind ----
for command in "bash -c 'echo \$((6 * 7)); exit 3'" "python3 -c 'print(6 * 7); raise SystemExit(3)'" \
	       "sh -c 'ls / | sort | head -2; exit 4'"; do
	plain=$(eval "$command" 2>&1) && plain_status=0 || plain_status=$?
	traced=$(eval "LD_PRELOAD=$preload $command" 2>&1) && traced_status=0 || traced_status=$?
	[ "$plain" = "$traced" ] && [ $plain_status = $traced_status ] || die "changes $command: $traced"
	[ ! -e "$KYMO_DIR" ] || die "$command made a runtime directory"
done

# A setuid program: the loader ignores the preload, or the library finds AT_SECURE; no region either way.
if [ "$(id -u)" = 0 ]; then
	install -m 4755 "$(command -v id)" "$work/setuid-id"
	LD_PRELOAD=$preload "$work/setuid-id" -u >/dev/null 2>"$work/setuid.err" || die "breaks a setuid program"
	[ ! -e "$KYMO_DIR" ] || die "a setuid program was traced"
fi

# Switched off, or without a usable directory: the program runs as ever.
for setting in KYMO_DISABLE=1 KYMO_DIR=/proc/nowhere "KYMO_DIR=$work/a-file"; do
	: >"$work/a-file"
	env "$setting" LD_PRELOAD="$preload" LD_LIBRARY_PATH="$KYMO_BUILD/stub/jazzy/lib" "$calls" \
		THREE_ARGUMENTS >/dev/null || die "fails with $setting"
	[ ! -e "$work/run" ] || die "$setting was not honoured"
done
mkdir -m 0755 "$work/open"
said=$(KYMO_VERBOSE=1 KYMO_DIR=$work/open LD_PRELOAD=$preload LD_LIBRARY_PATH=$KYMO_BUILD/stub/jazzy/lib \
	"$calls" 2>&1 >/dev/null)
case $said in *"not traced"*open*) ;; *) die "a directory open to others: says '$said'" ;; esac

# ---- KYMO_FORWARD=1: the functions below are called too, with their arguments ----
mkdir -p "$work/real"
cat >"$work/real.c" <<'C'
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
void ros_trace_rcl_init(const void *context) { printf("real rcl_init %p\n", context); }
void ros_trace_rmw_publish(const void *publisher, const void *message, int64_t timestamp)
{
	printf("real rmw_publish %p %p %lld\n", publisher, message, (long long)timestamp);
}
bool ros_trace_enabled_rclcpp_callback_register(void) { puts("real enabled"); return false; }
C
${CC:-cc} -shared -fPIC -o "$work/real/libtracetools.so" "$work/real.c"
for forward in 0 1; do
	KYMO_FORWARD=$forward LD_PRELOAD=$preload LD_LIBRARY_PATH=$work/real "$calls" THREE_ARGUMENTS 2 >"$work/out"
	[ "$(grep -c '^real rmw_publish 0x300 0x400 1234567890123456789$' "$work/out")" = $((forward * 2)) ] &&
		[ "$(grep -c '^real rcl_init 0x100$' "$work/out")" = $forward ] ||
		die "KYMO_FORWARD=$forward: $(cat "$work/out")"
	grep -q '^enabled: 1' "$work/out" || die "KYMO_FORWARD=$forward: an init event is not wanted"
done

# ---- librcl in a scope of its own, as Python loads it: what it is asked for is still done by it ----
cat >"$work/module.c" <<'C'
int rcl_node_fini(void *node);
int module_end(void *node) { return rcl_node_fini(node) * 100 + 7; }
C
${CC:-cc} -shared -fPIC -o "$work/module.so" "$work/module.c" -L"$KYMO_BUILD/stub/rcl" -lrcl -Wl,-rpath,"$KYMO_BUILD/stub/rcl"
ends='import ctypes, sys; module = ctypes.CDLL(sys.argv[1]); print(module.module_end(8), module.module_end(None))'
if ! sanitized; then
	for library in "" "$preload"; do
		said=$(LD_PRELOAD=$library python3 -c "$ends" "$work/module.so") || die "rcl_node_fini fails"
		[ "$said" = "7 1107" ] || die "rcl_node_fini with '$library': $said"
	done
fi

# ---- exec: the new image has a region of its own; the next program clears up behind both ----
export LD_LIBRARY_PATH=$KYMO_BUILD/stub/jazzy/lib
LD_PRELOAD=$preload "$calls" THREE_ARGUMENTS 1 "$calls" THREE_ARGUMENTS 1 >/dev/null || die "exec"
[ "$(ls "$KYMO_DIR" | wc -l)" = 1 ] || die "after exec: $(ls "$KYMO_DIR")"
LD_PRELOAD=$preload "$calls" THREE_ARGUMENTS 1 >/dev/null
[ -z "$(ls "$KYMO_DIR")" ] || die "left behind: $(ls "$KYMO_DIR")"
unset LD_LIBRARY_PATH

# ---- programs with a sanitizer of gcc: run as ever, and nothing of the dynamic linker's is a leak ----
cat >"$work/sanitized.c" <<'C'
#include <stdlib.h>
void ros_trace_rcl_init(const void *context);
int main(void)
{
	char *volatile memory = malloc(10);

	ros_trace_rcl_init(&memory);
	free(memory);
	return 0;
}
C
for sanitizer in address leak; do
	! sanitized && gcc -fsanitize=$sanitizer -o "$work/sanitized" "$work/sanitized.c" -L"$KYMO_BUILD/stub/jazzy/lib" -ltracetools \
		-Wl,-rpath,"$KYMO_BUILD/stub/jazzy/lib" 2>/dev/null && "$work/sanitized" 2>/dev/null || continue
	for option in "" --malloc; do
		rm -rf "$work/trace"
		"$KYMO_BUILD/bin/kymo" record -q $option -o "$work/trace" -- "$work/sanitized" 2>"$work/err" ||
			die "-fsanitize=$sanitizer, record $option: $(cat "$work/err")"
	done
done

# ---- each version of libtracetools: its shape of events, and callback names ----
# record FLAVOUR SHAPE
record() {
	rm -rf "$work/trace"
	LD_LIBRARY_PATH=$KYMO_BUILD/stub/$1/lib "$KYMO_BUILD/bin/kymo" record --quiet -o "$work/trace" -- \
		"$calls" "$2" >"$work/out" 2>"$work/err" || die "$1: $(cat "$work/err")"
	babeltrace2 --names=none --clock-gmt "$work/trace" >"$work/text" 2>"$work/warnings" ||
		die "$1: babeltrace2: $(cat "$work/warnings")"
	[ ! -s "$work/warnings" ] || die "$1: babeltrace2 warns: $(cat "$work/warnings")"
	babeltrace2 "$work/trace" >"$work/text" 2>/dev/null
}
has() {
	grep -q -E "$1" "$work/text" || die "$flavour: no $1 in
$(cat "$work/text")"
}

gid16='\[0\] = 1, .*\[15\] = 16'
zeros='\[16\] = 0, .*\[23\] = 0'
for flavour in humble jazzy rolling; do
	case $flavour in
	humble) version=4.1.1 shape=ONE_ARGUMENT ;;
	jazzy) version=8.2.2 shape=THREE_ARGUMENTS ;;
	rolling) version=8.10.1 shape=THREE_ARGUMENTS ;;
	esac
	record $flavour $shape
	has "ros2:rcl_init:.*context_handle = 0x100, version = \"$version\""
	has 'ros2:rcl_node_init:.*node_name = "talker", namespace = "\(null\)"'
	[ "$(grep -c ros2:rmw_publish: "$work/text")" = 3 ] || die "$flavour: not three messages"
	case $flavour in
	humble)
		has 'ros2:rmw_publish:.*\{ message = 0x400 \}'
		has "ros2:rmw_publisher_init:.*$gid16, \[16\] = 238, .*\[23\] = 238"	# 24 bytes are real
		has 'ros2:rmw_subscription_init:.*\[0\] = 0, .*\[23\] = 0'
		;;
	jazzy)
		has 'ros2:rmw_publish:.*rmw_publisher_handle = 0x300, message = 0x400, timestamp = 1234567890123456789'
		has "ros2:rmw_publisher_init:.*$gid16, $zeros"			# 16 are real, 24 are recorded
		;;
	rolling)
		has 'ros2:rmw_publish:.*rmw_publisher_handle = 0x300, message = 0x400, timestamp = 1234567890123456789'
		has "ros2:rmw_publisher_init:.*$gid16 \]"
		;;
	esac
	grep -q '^enabled: 1' "$work/out" || die "$flavour: enabled_ is not true for an init event"
	grep -q '^demangle: .*Planner.*on_scan' "$work/out" || die "$flavour: $(cat "$work/out")"
	grep -q '^function: .*puts' "$work/out" || die "$flavour: $(cat "$work/out")"
done
