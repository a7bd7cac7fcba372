#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cost of one event: kymo, the floor, LTTng-UST. usage: event.sh [BUILD]
# LTTng runs in a session daemon of its own, with the contexts that ros2_tracing sets, and overwrites
# its buffers: as with kymo here, nothing is dropped and nobody reads meanwhile.
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
	exec unshare -m sh -c 'mount -t tmpfs tmpfs /run/lttng && exec "$0" "$@"' "$0" "$build"
fi
trap cleanup EXIT
trap 'exit 1' INT TERM

session_start() {
	export LTTNG_HOME="$scratch/lttng"
	mkdir -p "$LTTNG_HOME"
	lttng-sessiond --no-kernel --pidfile "$scratch/pid" >"$scratch/sessiond.log" 2>&1 &
	daemon=$!
	for _ in $(seq 50); do
		lttng --no-sessiond list >/dev/null 2>&1 && break
		sleep 0.1
	done
	lttng --no-sessiond create bench --snapshot --output "$scratch/trace" &&
		lttng --no-sessiond enable-channel --userspace --subbuf-size 1M --num-subbuf 8 ros2 &&
		lttng --no-sessiond enable-event --userspace --channel ros2 'kymo_bench:*' &&
		lttng --no-sessiond add-context --userspace --channel ros2 -t vpid -t vtid -t procname &&
		lttng --no-sessiond start
}

if command -v lttng-sessiond >/dev/null; then
	if session_start >"$scratch/lttng.log" 2>&1; then
		export BENCH_LTTNG_SESSION=1
	else
		echo "event.sh: no LTTng session: $(tail -1 "$scratch/lttng.log")" >&2
	fi
else
	echo "event.sh: without LTTng, it needs lttng-tools" >&2
fi

mkdir -m 700 "$scratch/run"
KYMO_DIR="$scratch/run" LTTNG_UST_REGISTER_TIMEOUT=3000 \
	LD_PRELOAD="$build/lib/libkymo-ros2.so" "$build/bench/bench_event"
