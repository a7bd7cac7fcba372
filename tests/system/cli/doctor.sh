#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# kymo doctor against real programs and processes of every kind that it should tell apart.
. "$(dirname "$0")/../lib/libtest.sh"

export KYMO_DIR=$scratch/runtime HOME=$scratch
unset ROS_DISTRO LD_LIBRARY_PATH LD_PRELOAD KYMO_PRELOAD
cd "$scratch" || exit 1
stub=$KYMO_BUILD/stub

# compile OUTPUT ARGUMENT...: source from standard input
compile() {
	local output=$1
	shift
	gcc -o "$output" -x c - -x none "$@" 2>"$scratch/gcc" || { cat "$scratch/gcc" >&2; return 1; }
}

# is CHECK RESULT [TEXT]: the JSON in out has such a finding
is() {
	/usr/bin/python3 - "$scratch/out" "$@" <<-'END' || fail "no '$1: $2 ... ${3-}' in $(cat "$scratch/out")"
	import json, sys
	checks = json.load(open(sys.argv[1]))["checks"]
	check, result, text = (sys.argv[2:] + [""])[:3]
	sys.exit(not any(c["check"] == check and c["result"] == result and text in c["found"] and
	                 (result != "problem" or c["remedy"]) for c in checks))
	END
}

doctor() {
	local status=$1
	shift
	run "$status" "$kymo" doctor --format json "$@" && empty err
}

calls='void ros_trace_rcl_init(const void *); int main(void) { ros_trace_rcl_init(0); return 0; }'
nothing='int main(void) { return 0; }'

# ---- the machine ----
doctor 0 && is "preload library" ok libkymo-ros2.so && is "runtime directory" ok "will be created"
mkdir -m 755 "$KYMO_DIR"
doctor 1 && is "runtime directory" problem "mode 0755"
run 0 "$kymo" run -- true && has err "true cannot be recorded: $KYMO_DIR is open to other users"
chmod 700 "$KYMO_DIR"
doctor 0 && is "runtime directory" ok "mode 0700"
run 0 "$kymo" run -- true && empty err
rmdir "$KYMO_DIR" && ln -s /proc/nonexistent "$KYMO_DIR"
doctor 1 && is "runtime directory" problem "not a directory"
rm "$KYMO_DIR"
KYMO_DIR=relative doctor 1 && is "runtime directory" problem "relative"
KYMO_PRELOAD=/proc/nonexistent/x.so doctor 1 && is "preload library" problem /proc/nonexistent/x.so
printf 'no library' >"$scratch/broken.so"
KYMO_PRELOAD=$scratch/broken.so doctor 1 && is "preload library" problem "the loader rejects"
run 0 "$kymo" doctor --format csv && has out "check,result,found,remedy"
run 0 "$kymo" doctor && has out "No problem found."

# ---- programs ----
echo "$calls" | compile plain -L"$stub/jazzy/lib" -ltracetools -Wl,-rpath,"$stub/jazzy/lib" &&
	doctor 0 ./plain && is tracepoints ok "1 used by plain" || fail "plain"
is libtracetools ok "version 8.2.2 (by its package.xml" && is LTTng ok without
echo "$calls" | compile nopath -L"$stub/jazzy/lib" -ltracetools
doctor 1 ./nopath && is libraries problem "1 of " && is libtracetools problem "not found"
for flavour in humble:4.1.1 jazzy:8.2.2 rolling:8.10.1; do
	LD_LIBRARY_PATH=$stub/${flavour%:*}/lib doctor 0 ./nopath
	is libtracetools ok "version ${flavour#*:} (by its package.xml"
done
# ros2 run starts another program: the node of the first prefix that has it.
mkdir -p ws/lib/demo bin && cp plain ws/lib/demo/talker && printf '#!/bin/sh\n' >bin/ros2 && chmod +x bin/ros2
AMENT_PREFIX_PATH=$scratch/none:$scratch/ws PATH=$scratch/bin:$PATH doctor 0 -- ros2 run --prefix nice demo talker --ros-args
is command ok "ros2 run starts $scratch/ws/lib/demo/talker" && is tracepoints ok "1 used by talker"
AMENT_PREFIX_PATH=$scratch/ws doctor 1 -- ros2 run demo nobody && is command problem "no program nobody in lib/demo"
mkdir -p 'inst/lib' && cp "$stub/jazzy/lib/libtracetools.so" inst/lib
# shellcheck disable=SC2016 # the loader's variable
echo "$calls" | compile inst/lib/node -Linst/lib -ltracetools -Wl,-rpath,'$ORIGIN'
doctor 0 inst/lib/node && is libtracetools warning "a guess"
ROS_DISTRO=iron doctor 0 inst/lib/node && is libtracetools ok "6.1 to 7.x (by ROS_DISTRO)"

# As LTTng-UST 2.13 lays out a tracepoint: the argument types of rmw_publish tell Iron and Jazzy apart.
for arguments in "const void *, message_arg:6.1 to 7.x" \
		 "const void *, rmw_publisher_handle_arg, const void *, message_arg:8.0 to 8.4"; do
	mkdir -p probes
	compile probes/libtracetools.so -shared -fPIC <<-END
	#include <stdint.h>
	void ros_trace_rcl_init(const void *c) { (void)c; }
	int ros_trace_enabled_rcl_init(void) { return 0; }
	int ros_trace_enabled_rclcpp_intra_publish(void) { return 0; }
	struct { uint32_t size; const char *provider, *name; int state; void *probes; int *ref;
		const char *signature; } lttng_ust_tracepoint_ros2___rmw_publish = {
		64, "ros2", "rmw_publish", 0, 0, 0, "${arguments%:*}" };
	int lttng_ust_tracepoint_ros2___rcl_init;
	END
	LD_LIBRARY_PATH=$scratch/probes doctor 0 ./nopath
	is libtracetools ok "${arguments##*:} (by its LTTng probes)" && is LTTng ok "with LTTng"
done

echo "$nothing" | compile nothing && doctor 1 ./nothing && is tracepoints problem "neither it nor"
echo "$nothing" | compile librclcpp.so -shared -fPIC
echo "$nothing" | compile disabled -Wl,--no-as-needed -L. -lrclcpp -Wl,-rpath,"$scratch" &&
	doctor 1 ./disabled && is tracepoints problem TRACETOOLS_DISABLED
echo "void ros_trace_rcl_init(const void *c) { (void)c; } $nothing" | compile linked &&
	doctor 1 ./linked && is tracepoints problem "linked into the program"
# The linker mold names its jumps into libraries like that: they are calls, no copies.
compile molded -L"$stub/jazzy/lib" -ltracetools <<-'END'
asm(".type \"ros_trace_rcl_init$plt\", @function\n\"ros_trace_rcl_init$plt\": ret");
void ros_trace_rcl_init(const void *);
int main(void) { ros_trace_rcl_init(0); return 0; }
END
LD_LIBRARY_PATH=$stub/jazzy/lib doctor 0 ./molded && is tracepoints ok "1 used by molded"
echo "$nothing" | compile static -static && doctor 1 ./static && is linking problem static
echo "$nothing" | compile musl -Wl,--dynamic-linker=/proc/nonexistent/ld-musl-x86_64.so.1 &&
	doctor 1 ./musl && is linking problem "cannot be run"
# A program of another libc would end with 127 under LD_PRELOAD: it runs without it, also through a prefix and a script.
loader=$(readlink -f "$(ldd ./nothing | grep -o '/[^ ]*ld-linux[^ ]*')")
ln -s "$loader" ld-musl-here.so.1
compile other -Wl,--dynamic-linker="$scratch/ld-musl-here.so.1" <<-'END'
#include <stdlib.h>
int main(void) { return getenv("LD_PRELOAD") ? 127 : 5; }
END
printf '#!/usr/bin/env -S ./other it\n' >script && chmod +x script
for command in ./other "nice -n 1 ./other" ./script; do
	run 5 "$kymo" run -- $command
	has err "kymo run: this command cannot be recorded, and runs without kymo's library: its loader $scratch/ld-musl-here.so.1"
	same "lines of it" 1 "$(wc -l <"$scratch/err")"
done
run 5 "$kymo" record -o none -- ./other
has err "kymo record: this command cannot be recorded, and runs without kymo's library"
# KYMO_RCLPY=1: the hook for rclpy is loaded from PYTHONPATH, or nothing starts.
printf '#!/usr/bin/python3\nprint("ran")\n' >node.py && chmod +x node.py
export PYTHONDONTWRITEBYTECODE=1
for verb in "run" "record -q -o none"; do
	KYMO_RCLPY=1 run 1 "$kymo" $verb -- /usr/bin/python3 -I ./node.py && empty out
	has err "cannot record the callbacks of rclpy, as KYMO_RCLPY asks: /usr/bin/python3"
	for wish in "" 0; do
		KYMO_RCLPY=$wish "$kymo" $verb -- /usr/bin/python3 -I ./node.py >"$scratch/out" 2>"$scratch/err"
		has out ran && ! grep rclpy "$scratch/err" || fail "KYMO_RCLPY='$wish': $(cat "$scratch/err")"
	done
	KYMO_RCLPY=1 "$kymo" $verb -- ./node.py >"$scratch/out" 2>"$scratch/err"
	has out ran && ! grep rclpy "$scratch/err" || fail "the hook is loaded, and reported as missing"
done
if echo 'void _start(void) {}' | compile narrow -m32 -nostdlib -static 2>/dev/null; then
	doctor 1 ./narrow && is architecture problem "32-bit i386"
fi
if [ "$(id -u)" -eq 0 ]; then
	cp plain privileged && chown 1 privileged && chmod 4755 privileged
	doctor 1 ./privileged && is privileges problem "setuid"
fi
cp plain forbidden && chmod 644 forbidden
doctor 1 ./forbidden && is program problem "may not be executed"

# Scripts are followed to what runs them.
printf '#!%s/plain\n' "$scratch" >direct && printf '#!/usr/bin/env -S plain x\n' >indirect
printf '#!/proc/nonexistent/sh\n' >orphan && printf '#!%s/loop\n' "$scratch" >loop
chmod +x direct indirect orphan loop
doctor 0 ./direct && is interpreter ok "run by $scratch/plain" && is libtracetools ok 8.2.2
PATH=$scratch:$PATH doctor 0 indirect && is interpreter ok "$scratch/plain"
doctor 1 ./orphan && is interpreter problem /proc/nonexistent/sh
"$kymo" doctor ./loop >out 2>err && fail "an endless script passed"

# Damaged files: an answer, whatever it is, and no crash.
for size in 4 17 63 64 100 500 1000 4000; do
	head -c "$size" plain >torn && chmod +x torn
	"$kymo" doctor ./torn >out 2>err
	[ $? -le 3 ] || fail "torn at $size: $(cat err)"
done
/usr/bin/python3 - plain <<-'END'
import random, sys
random.seed(1)
whole = open(sys.argv[1], "rb").read()
for number in range(40):
    bytes_ = bytearray(whole)
    for _ in range(60):
        bytes_[random.randrange(64 if number % 2 else 24, 0x700)] = random.choice((0, 1, 0x7f, 0xff))
    open(f"damaged{number}", "wb").write(bytes_)
END
for file in damaged*; do
	chmod +x "$file"
	timeout 20 "$kymo" doctor "./$file" >out 2>err
	[ $? -le 3 ] || fail "$file: $(head -3 err)"
done

# gcc's sanitizer is a library that wants to be the first; in clang's programs it is none.
if gcc -o "$scratch/asan" -x c -fsanitize=address - <<<"$nothing" 2>/dev/null; then
	doctor 1 ./asan && is AddressSanitizer ok " expects to be the first library"
	KYMO_DIR=$scratch/beside "$kymo" run -- ./asan || fail "a program with a sanitizer under kymo run"
fi
doctor 0 ./plain
! grep -q AddressSanitizer out || fail "./plain has no sanitizer"

run 3 "$kymo" doctor ./no-such-program && empty out && has err "no program ./no-such-program"
run 3 "$kymo" doctor no-such-program && has err "in PATH"
run 3 "$kymo" doctor /usr && has err "not a file"
run 2 "$kymo" doctor a b && has err "at a time"
run 2 "$kymo" doctor -p 1 a && has err "at a time"

# ---- processes ----
mkdir -m 700 "$KYMO_DIR"
compile waits -Wl,--no-as-needed -L. -lrclcpp -L"$stub/jazzy/lib" -ltracetools -Wl,-rpath,"$scratch:$stub/jazzy/lib" <<'END'
#include <unistd.h>
void ros_trace_rcl_init(const void *);
int main(void) { ros_trace_rcl_init(0); (void)!write(1, "r", 1); pause(); return 0; }
END
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$scratch"' EXIT

# start NAME [VARIABLE=VALUE...]: runs ./waits until it is ready; its pid in $pid
start() {
	mkfifo "$1"
	env "${@:2}" ./waits >"$1" &
	pid=$!
	pids+=("$pid")
	head -c 1 "$1" >/dev/null
}

start traced LD_PRELOAD="$KYMO_BUILD/lib/libkymo-ros2.so"
doctor 0 -p "$pid" && is preload ok loaded && is region ok "waiting for a recorder" &&
	is libtracetools ok "version 8.2.2" && is librclcpp.so ok "functions of rclcpp" && is librclcpp.so warning "has no "
region=$(echo "$KYMO_DIR/$pid"-*.region)
printf 'XXXXXXXX' | dd of="$region" conv=notrunc status=none
doctor 1 -p "$pid" && is region problem "is not a region"
: >"$region.x" && mv "$region.x" "$region"
doctor 1 -p "$pid" && is region problem "cannot be read"
start untraced A=b
doctor 1 -p "$pid" && is preload problem "not loaded" && is libtracetools ok "8.2.2"
start switched_off LD_PRELOAD="$KYMO_BUILD/lib/libkymo-ros2.so" KYMO_DISABLE=1
doctor 1 -p "$pid" && is region problem KYMO_DISABLE
run 3 "$kymo" doctor -p 4194305 && empty out && has err "no process"
run 3 "$kymo" doctor -p 99999999999999 && has err "no process"
finish
