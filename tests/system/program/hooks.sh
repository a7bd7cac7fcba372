#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: answers
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

# ---- a callback whose function is static: its name is only in the file, or in its debug file ----
cat >"$work/callback.h" <<'C'
static void on_scan(void) {}
extern void *callback;
void *callback = (void *)on_scan;
C
cat >"$work/static.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include "callback.h"
char *_ZN10tracetools6detail18get_symbol_funcptrEPKv(const void *function);
int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	puts(_ZN10tracetools6detail18get_symbol_funcptrEPKv(library ? *(void **)dlsym(library, "callback") : callback));
	return 0;
}
C
cat >"$work/lttng.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
bool ros_trace_compile_status(void) { return true; }
char *_ZN10tracetools6detail18get_symbol_funcptrEPKv(const void *function)
{
	Dl_info info;

	return strdup(dladdr(function, &info) && info.dli_sname ? info.dli_sname : "(null)");
}
C
mkdir "$work/lttng"
${CC:-cc} -shared -fPIC -o "$work/lttng/libtracetools.so" "$work/lttng.c"
${CC:-cc} -o "$work/static" "$work/static.c" -L"$work/lttng" -ltracetools -Wl,--build-id
${CC:-cc} -no-pie -o "$work/fixed" "$work/static.c" -L"$work/lttng" -ltracetools
sed 's/on_scan/on_plugin/' "$work/callback.h" | ${CC:-cc} -shared -fPIC -Wl,--build-id -xc -o "$work/plugin.so" -
name() {	# EXPECTED PROGRAM [PLUGIN]: what the program is told
	expected=$1
	shift
	said=$(LD_PRELOAD=$preload LD_LIBRARY_PATH=$tracetools "$@") || die "$* fails"
	[[ $said =~ ^$expected$ ]] || die "$*, $tracetools: its callback is '$said', not $expected"
}
[ "$(LD_LIBRARY_PATH=$work/lttng "$work/static")" = "(null)" ] || die "the static function is exported"
for tracetools in "$work/lttng" "$KYMO_BUILD/stub/jazzy/lib"; do
	name on_scan "$work/static"
	name on_scan "$work/fixed"
	name on_plugin "$work/static" "$work/plugin.so"
done
cp "$work/plugin.so" "$work/whole.so"
objcopy --only-keep-debug "$work/plugin.so" "$work/plugin.debug"
strip "$work/plugin.so" "$work/static"
name 'static\+0x[0-9a-f]+' "$work/static"
name 'plugin\.so\+0x[0-9a-f]+' "$work/static" "$work/plugin.so"
printf '\377\377\377\377\377\377\377\177' | dd of="$work/whole.so" bs=1 seek=40 conv=notrunc status=none	# where its sections are
name 'whole\.so\+0x[0-9a-f]+' "$work/static" "$work/whole.so"
id=$(readelf -n "$work/plugin.so" | sed -n 's/ *Build ID: //p')
if unshare -rm mount -t tmpfs none /usr/lib/debug 2>/dev/null; then
	name on_plugin unshare -rm sh -c 'mount -t tmpfs none /usr/lib/debug && mkdir -p "/usr/lib/debug/.build-id/${3%"${3#??}"}" &&
		cp "$2" "/usr/lib/debug/.build-id/${3%"${3#??}"}/${3#??}.debug" && exec "$0" "$1"' \
		"$work/static" "$work/plugin.so" "$work/plugin.debug" "$id"
else
	echo "skipped in part: no mount of one's own for a debug file"
fi
