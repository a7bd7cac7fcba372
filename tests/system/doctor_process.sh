#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kymo doctor -p against processes that people expect to be traced, and that are not: docs/doctor.md has the list.
. "$(dirname "$0")/libtest.sh"

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
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$scratch"' EXIT

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
