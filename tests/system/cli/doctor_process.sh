#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# kymo doctor -p against processes that people expect to be traced, and that are not: docs/record/doctor.md has the list.
. "$(dirname "$0")/../lib/libtest.sh"

export KYMO_DIR=$scratch/runtime HOME=$scratch
unset ROS_DISTRO LD_LIBRARY_PATH LD_PRELOAD KYMO_PRELOAD KYMO_RCLPY
cd "$scratch" || exit 1
stub=$KYMO_BUILD/stub
preload=$KYMO_BUILD/lib/libkymo-ros2.so
mkdir -m 700 "$KYMO_DIR"

# compile OUTPUT ARGUMENT...: source from standard input
compile() {
	local output=$1
	shift
	gcc -o "$output" -x c - -x none "$@" 2>"$scratch/gcc" || { cat "$scratch/gcc" >&2; return 1; }
}

# is CHECK RESULT [TEXT [REMEDY]]: the JSON in out has such a finding
is() {
	/usr/bin/python3 - "$scratch/out" "$@" <<-'END' || fail "no '$1: $2 ... ${3-} ... ${4-}' in $(cat "$scratch/out")"
	import json, sys
	checks = json.load(open(sys.argv[1]))["checks"]
	check, result, text, remedy = (sys.argv[2:] + ["", ""])[:4]
	sys.exit(not any(c["check"] == check and c["result"] == result and text in c["found"] and
	                 remedy in (c["remedy"] or "") and (result != "problem" or c["remedy"]) for c in checks))
	END
}

doctor() {
	local status=$1
	shift
	run "$status" "$kymo" doctor --format json "$@" && empty err
}

pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT

# start COMMAND...: runs it until ./waits is ready, which tells its pid; that in $pid
start() {
	rm -f ready
	mkfifo ready
	"$@" >ready &
	pids+=("$!")
	read -r pid <ready || fail "$* did not start"
	pids+=("$pid")
}

compile waits -Wl,--no-as-needed -L"$stub/jazzy/lib" -ltracetools -Wl,-rpath,"$stub/jazzy/lib" <<'END'
#include <stdio.h>
#include <unistd.h>
void ros_trace_rcl_init(const void *);
int main(void) { ros_trace_rcl_init(0); printf("%d\n", getpid()); fflush(stdout); for (;;) pause(); }
END

# ---- LD_PRELOAD does not arrive ----
printf '#!/bin/sh\nunset LD_PRELOAD\n./waits &\nwait\n' >wrapper && chmod +x wrapper
printf '#!/bin/sh\n"$@" &\nwait\n' >launcher && chmod +x launcher
for prefix in ./wrapper "./launcher env -i" "./launcher setpriv --reset-env"; do
	# shellcheck disable=SC2086 # words
	start env LD_PRELOAD="$preload" $prefix ./waits
	doctor 1 -p "$pid" && is preload problem ", an ancestor, has LD_PRELOAD" "kymo run --" &&
		is preload problem "process $pid (waits) was started without"
done
start env KYMO_DIR="$scratch/recorder" "$kymo" record -o began -q -- env -i ./waits
doctor 1 -p "$pid" && is preload problem "(kymo), an ancestor, has LD_PRELOAD"
start env -i ./waits		# from nothing that has it
doctor 1 -p "$pid" && is preload problem "the library is not loaded" "kymo record --"
# For other users, who must get to the build directory.
others=
[ "$(id -u)" -ne 0 ] || ! setpriv --reuid 4711 --clear-groups test -r "$preload" 2>/dev/null || others=1
if [ "$others" ]; then
	cp waits secure && chown 1 secure && chmod 4755 secure
	start env LD_PRELOAD="$preload" ./secure
	doctor 1 -p "$pid" && is preload problem "raised privileges" AmbientCapabilities
fi
compile fixed -static <<'END'
#include <stdio.h>
#include <unistd.h>
void ros_trace_rcl_init(const void *c) { (void)c; }
int main(void) { ros_trace_rcl_init(0); printf("%d\n", getpid()); fflush(stdout); for (;;) pause(); }
END
start env LD_PRELOAD="$preload" ./fixed
doctor 1 -p "$pid" && is preload problem "statically linked" dynamically && is libtracetools problem "linked into the program" libtracetools.so

# ---- no tracepoints ----
mkdir off
echo 'int tracetools_status(void) { return 0; }' | compile off/libtracetools.so -shared -fPIC
echo 'int rclcpp_any;' | compile off/librclcpp.so -shared -fPIC
told='#include <stdio.h>
#include <unistd.h>
int main(void) { printf("%d\n", getpid()); fflush(stdout); for (;;) pause(); }'
echo "$told" | compile hushed -Wl,--no-as-needed -Loff -ltracetools -Wl,-rpath,"$scratch/off"
doctor 1 ./hushed && is libtracetools problem "no tracepoints: built with TRACETOOLS_DISABLED"
start env LD_PRELOAD="$preload" ./hushed
doctor 1 -p "$pid" && is preload ok && is libtracetools problem "no tracepoints: built with TRACETOOLS_DISABLED" "build ROS 2"
echo "$told" | compile without -Wl,--no-as-needed -Loff -lrclcpp -Wl,-rpath,"$scratch/off"
start env LD_PRELOAD="$preload" ./without
doctor 1 -p "$pid" && is libtracetools problem "librclcpp.so is: built with TRACETOOLS_DISABLED"
start env LD_PRELOAD="$preload" TRACETOOLS_RUNTIME_DISABLE=1 ./waits
doctor 0 -p "$pid" && is threads ok "TRACETOOLS_RUNTIME_DISABLE keeps only LTTng out"

# ---- threads of LTTng ----
compile listens -pthread <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *listen(void *unused) { for (;;) pause(); return unused; }
int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, listen, NULL) || pthread_setname_np(thread, "listens-ust"))
		return 1;
	printf("%d\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}
END
start env LD_PRELOAD="$preload" ./listens
doctor 0 -p "$pid" && is threads warning "2, of these 1 of LTTng" "set TRACETOOLS_RUNTIME_DISABLE=1"
start env LD_PRELOAD="$preload" TRACETOOLS_RUNTIME_DISABLE=1 ./listens	# as kymo run does, and tracetools of Humble to Jazzy ignore
doctor 0 -p "$pid" && is threads ok "2, of these 1 of LTTng: tracetools before 8.9"

# ---- Python ----
echo 'int _rclpy_any;' | compile _rclpy_pybind11.so -shared -fPIC
node='import ctypes, os, time
ctypes.CDLL("./_rclpy_pybind11.so")
print(os.getpid(), flush=True)
time.sleep(1000)'
start env LD_PRELOAD="$preload" /usr/bin/python3 -c "$node"
"$kymo" doctor -p "$pid" --format json >out
is rclpy warning "nodes, topics, messages and timers are recorded" KYMO_RCLPY
for wish in KYMO_RCLPY=1 "PYTHONPATH=$KYMO_BUILD/lib/python"; do
	start env LD_PRELOAD="$preload" "$wish" /usr/bin/python3 -c "$node"
	"$kymo" doctor -p "$pid" --format json >out
	is rclpy ok "the hook was asked"
done
start env LD_PRELOAD="$preload" KYMO_RCLPY=0 "PYTHONPATH=$KYMO_BUILD/lib/python" /usr/bin/python3 -c "$node"
"$kymo" doctor -p "$pid" --format json >out
is rclpy warning "nodes, topics" "without KYMO_RCLPY=0"

# ---- its own malloc ----
compile hoards -L"$stub/jazzy/lib" -ltracetools -Wl,-rpath,"$stub/jazzy/lib" <<'END'
#include <stddef.h>
void ros_trace_rcl_init(const void *);
static char heap[4096];
void *malloc(size_t size) { (void)size; return heap; }
int main(void) { ros_trace_rcl_init(0); return 0; }
END
doctor 0 ./hoards && is malloc warning "malloc() of its own" "own allocator"
doctor 0 ./waits
grep -q '"malloc"' out && fail "a malloc() in $(cat out)"

# ---- functions that call kymo, and places where they could ----
for how in -finstrument-functions -pg -fpatchable-function-entry=2; do
	echo 'int main(void) { return 0; }' | compile calls "$how"
	doctor 1 ./calls
	case $how in
	*patchable*) is "function calls" warning "calls was built with -fpatchable-function-entry" "build it with -finstrument-functions or -pg" ;;
	*) is "function calls" ok "calls calls kymo" ;;
	esac
done

# ---- another directory, container, user ----
mkdir -m 700 elsewhere
start env LD_PRELOAD="$preload" KYMO_DIR="$scratch/elsewhere" ./waits
doctor 0 -p "$pid" && is "runtime directory" warning "it has $scratch/elsewhere, this kymo looks into $KYMO_DIR" "KYMO_DIR"
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016 # for the other shell
	start unshare -m sh -c 'mount -t tmpfs -o size=1M,mode=700 none "$KYMO_DIR" && LD_PRELOAD=$0 exec ./waits' "$preload"
	doctor 0 -p "$pid" && is container warning "in another mount namespace" "docs/record/containers.md"
	# shellcheck disable=SC2016
	start unshare -m sh -c 'mount -t tmpfs -o ro,mode=700 none "$KYMO_DIR" && LD_PRELOAD=$0 exec ./waits' "$preload"
	doctor 1 -p "$pid" && is "runtime directory" problem "cannot be written: Read-only" "mount it writable"
fi
if [ "$others" ]; then
	chmod 711 "$scratch" && mkdir -m 700 theirs && chown 4711 theirs
	start env KYMO_DIR="$scratch/theirs" setpriv --reuid 4711 --clear-groups env LD_PRELOAD="$preload" ./waits
	doctor 0 -p "$pid" && is owner ok "user 4711" && is "runtime directory" warning "it has $scratch/theirs" "--user"
	setpriv --reuid 4712 --clear-groups "$kymo" doctor -p "$pid" --format json >out 2>err
	is owner problem "user 4711; you are user 4712" "run kymo as that user"
fi

# ---- a libkymo of another version ----
# patch OFFSET BYTES: of the region of $pid
patch() {
	# shellcheck disable=SC2059 # bytes
	printf "$2" | dd of="$(echo "$KYMO_DIR/$pid"-*.region)" bs=1 seek="$1" conv=notrunc status=none
}
nothing_recorded() {
	timeout -s INT 60 "$kymo" record -o trace -- sleep 0 >out 2>err
	same "status of a recording of nothing" 6 $?
	has err "process $pid (waits) has another version of libkymo: $1" && has err "restart it with the library of this kymo" &&
		has err "cannot be recorded, as said above"
	[ ! -e trace ] || fail "there is a trace of nothing"
}
start env LD_PRELOAD="$preload" ./waits
doctor 0 -p "$pid" && is region ok "waiting for a recorder"
version=$("$kymo" --version | sed -n 's/.*memory layout \([0-9]*\),.*/\1/p')
patch 8 '\001'		# kymo_region.abi_version
doctor 1 -p "$pid" && is region problem "has layout version 1, this kymo has $version:" "kymo run"
doctor 1 && is region problem "process $pid (waits) has another version of libkymo: layout version 1" "kymo run"
run 0 "$kymo" status && has out "process $pid (waits) has another version" && empty err
run 0 "$kymo" status --format json
same "pid in the section of what is refused" "$pid" "$(/usr/bin/python3 -c 'import json; print(json.load(open("out"))["refused"][0]["pid"])')"
nothing_recorded "layout version 1"
patch 8 "$(printf '\\%03o' "$version")" && patch 16 'XXXXXXXX'	# table_hash
doctor 1 -p "$pid" && is region problem "knows other tracepoints" "kymo run"
doctor 1 && is region problem "other tracepoints"
nothing_recorded "layout version"
kill "$pid" && wait "$pid" 2>/dev/null
doctor 0 && is region warning "which has ended" "remove the file"
rm "$KYMO_DIR/$pid"-*.region

mkdir other && cp "$KYMO_BUILD"/lib/libkymo.so.0 other/
LD_LIBRARY_PATH=$scratch/other doctor 0 ./waits && is "preload library" warning "it uses $scratch/other/libkymo.so.0" LD_LIBRARY_PATH
doctor 0 ./waits
grep -q "it uses" out && fail "libkymo from elsewhere: $(cat out)"

finish
