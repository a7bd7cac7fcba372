#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark of these folders and prints a dated summary, as docs/comparison/benchmarks.md keeps it.
# usage: run.sh [BUILD] [WHAT...]    WHAT: names of scripts without .sh; all if none
# Exits with 1 if one failed, could not run here (a script exits with 77 then), or does not exist.
set -u
here=$(dirname "$(realpath "$0")")
build=$(realpath "${1:-${KYMO_BUILD:-build}}")
KYMO_BUILD=$build KYMO_SOURCE=$(dirname "$here")
export KYMO_BUILD KYMO_SOURCE
[ $# -eq 0 ] || shift

[ -x "$build/bin/kymo" ] && [ -d "$build/bench" ] ||
	{ echo "run.sh: no benchmarks in $build: build with -DKYMO_BENCH=ON -DKYMO_TESTS=ON, or run make bench" >&2; exit 1; }
for name; do
	[ -x "$(echo "$here"/*/"$name.sh")" ] || { echo "run.sh: no benchmark is called '$name'" >&2; exit 1; }
done
status=$(mktemp)
trap 'rm -f "$status"' EXIT

echo "## $(date -u +%Y-%m-%d)"
echo
echo "- machine: $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(uname -srm)"
echo "- clock: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource), load before: $(cut -d' ' -f1-3 /proc/loadavg)"
echo "- compiler: $("${CC:-cc}" --version | head -1); kymo $("$build/bin/kymo" --version 2>/dev/null | head -1)"
! command -v lttng >/dev/null || echo "- peers: $(lttng --version), $(babeltrace2 --version 2>/dev/null | head -1)"

for script in "$here"/*/*.sh; do
	name=$(basename "$script" .sh)
	case " ${*:-$name} " in
	*" $name "*) ;;
	*) continue ;;
	esac
	printf '\n### bench/%s\n\n```\n' "${script#"$here"/}"
	{ "$script" "$build" 2>&1 || { echo "(failed with $?)"; echo "$name" >>"$status"; }; } | sed 's/ *$//'
	echo '```'
done
[ ! -s "$status" ] || { echo; echo "failed, or could not run here: $(tr '\n' ' ' <"$status")"; exit 1; } >&2
