#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How much smaller compressed chunks are, and what that costs. usage: compress.sh [BUILD] [TRACE...]
# Without a TRACE: one of the example robot, and one of numbered events. Frames as --compress makes them
# (256 KiB, with very many streams 16 KiB), at several levels of zstd; CPU time.
set -eu
build=$(realpath "${1:-${KYMO_BUILD:-build}}")
[ $# -eq 0 ] || shift
seconds=${BENCH_SECONDS:-10}
scratch=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

# streams TRACE: all its packets in one file
streams() {
	find "$1" -type f ! -name metadata ! -name '*.json' ! -name '*.idx' ! -name '*.zst' -exec cat {} +
}

measure() {
	"$build/bench/bench_pack" "$scratch/streams" "$1" "$2" 1 3 6
}

if [ $# -eq 0 ]; then
	KYMO_DIR=$scratch/run
	export KYMO_DIR
	mkdir -m 700 "$KYMO_DIR"
	set -- "$scratch/numbers"
	"$build/bin/kymo" record -q -o "$scratch/numbers" -- "$build/tests/numbers" --rate 200000 --seconds "$seconds" \
		"$scratch/noted"
	if [ -x "$build/robot/robot" ]; then
		"$build/bin/kymo" record -q -o "$scratch/robot" -- "$build/robot/robot" --seconds "$seconds" >/dev/null
		set -- "$scratch/robot" "$@"
	fi
fi
for trace; do
	streams "$trace" >"$scratch/streams"
	[ -s "$scratch/streams" ] || { echo "compress.sh: $trace has no plain stream" >&2; exit 1; }
	measure "$(basename "$trace")" 262144
	measure "$(basename "$trace")" 16384
done
