#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Cost of one event: kymo, the floor, LTTng-UST. usage: event.sh [BUILD]    BENCH_BURSTS: 4000
# LTTng runs in a session daemon of its own, with the contexts that ros2_tracing sets. For the batches it
# overwrites its buffers: as with kymo there, nothing is dropped and nobody reads meanwhile. For the calls
# one by one both are recorded.
set -eu
build=$(realpath "${1:-${KYMO_BUILD:-build}}")
scratch=$(mktemp -d "${TMPDIR:-/dev/shm}/kymo-bench-XXXXXX")
daemon=

cleanup() {
	if [ -n "$daemon" ]; then
		lttng destroy -a >/dev/null 2>&1 || true
		kill "$daemon" 2>/dev/null || true
		while kill -0 "$daemon" 2>/dev/null; do sleep 0.1; done
	fi
	rm -rf "$scratch"
}

# Root's session daemon has one fixed place, /run/lttng: a mount namespace makes it private.
if [ "$(id -u)" = 0 ] && [ -z "${BENCH_PRIVATE:-}" ] && command -v lttng-sessiond >/dev/null; then
	rm -rf "$scratch"
	export BENCH_PRIVATE=1
	mkdir -p /run/lttng
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare -m sh -c 'mount -t tmpfs tmpfs /run/lttng && exec "$0" "$@"' "$0" "$build"
fi
trap cleanup EXIT
trap 'exit 1' INT TERM

# Who drains shall not wait for other work of this machine.
first=()
! chrt -f 1 true 2>/dev/null || first=(chrt -f 1)

daemon_start() {
	export LTTNG_HOME="$scratch/lttng"
	mkdir -p "$LTTNG_HOME"
	"${first[@]}" lttng-sessiond --no-kernel --pidfile "$scratch/pid" >"$scratch/sessiond.log" 2>&1 &
	daemon=$!
	for _ in $(seq 50); do
		lttng --no-sessiond list >/dev/null 2>&1 && break
		sleep 0.1
	done
}

session_start() {	# NAME OPTION...
	local name=$1
	shift
	{
		lttng --no-sessiond create "$name" "$@" --output "$scratch/$name" &&
			lttng --no-sessiond enable-channel --userspace --subbuf-size 1M --num-subbuf 8 ros2 &&
			lttng --no-sessiond enable-event --userspace --channel ros2 'kymo_bench*' &&
			lttng --no-sessiond add-context --userspace --channel ros2 -t vpid -t vtid -t procname &&
			lttng --no-sessiond start
	} >"$scratch/lttng.log" 2>&1 || {
		echo "event.sh: no LTTng session: $(tail -1 "$scratch/lttng.log")" >&2
		return 1
	}
	export BENCH_LTTNG_SESSION=1
}

export KYMO_DIR="$scratch/run" LTTNG_UST_REGISTER_TIMEOUT=3000
mkdir -m 700 "$KYMO_DIR"
if command -v lttng-sessiond >/dev/null; then
	daemon_start
	session_start batches --snapshot || true
else
	echo "event.sh: without LTTng, it needs lttng-tools" >&2
fi
LD_PRELOAD="$build/lib/libkymo-ros2.so" "$build/bench/bench_event"
"$build/bench/bench_event_user"

echo
if [ -n "${BENCH_LTTNG_SESSION:-}" ]; then
	unset BENCH_LTTNG_SESSION
	lttng --no-sessiond destroy -a >"$scratch/lttng.log" 2>&1
	session_start calls || true
fi
# The program moves to the last CPU itself; the recorder stays on the others.
others=0-$(($(nproc) > 1 ? $(nproc) - 2 : 0))
status=0
"${first[@]}" taskset -c "$others" "$build/bin/kymo" record --quiet -o "$scratch/trace" -- \
	"$build/bench/bench_event_tail" "${BENCH_BURSTS:-4000}" || status=$?
[ "$status" = 0 ] || [ "$status" = 6 ] || { echo "event.sh: bench_event_tail ended with $status" >&2; exit 1; }
[ ! -e "$scratch/trace/kymo.json" ] || python3 -c 'import json, sys; t = json.load(open(sys.argv[1]))["totals"]
lost = t["dropped"] + t["unwritten"]
print("recorded", t["recorded"], "events, lost", lost, lost and "(then the numbers do not count)" or "")' "$scratch/trace/kymo.json"
[ -z "${BENCH_LTTNG_SESSION:-}" ] || lttng --no-sessiond list calls | sed -n 's/^ *Discarded events: */LTTng-UST: discarded events /p'
