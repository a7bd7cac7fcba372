#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The init log: how long taking 100 000 facts over takes, what creating and destroying nodes costs, and a
# soak of that which checks itself. usage: initlog.sh [BUILD] [SECONDS of the soak]
set -eu
build=$(realpath "${1:-${KYMO_BUILD:-build}}")
seconds=${2:-10}
scratch=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
trap 'rm -rf "$scratch"' EXIT

for gone in 0 20000; do
	mkdir -m 700 "$scratch/run$gone"
	KYMO_DIR="$scratch/run$gone" LD_PRELOAD="$build/lib/libkymo-ros2.so" \
		"$build/bench/bench_takeover" "$build/tests/churn" 6250 $gone 11 "$scratch"
done
mkdir -m 700 "$scratch/run"
KYMO_DIR="$scratch/run" python3 - "$build" "$seconds" <<'PY'
import json
import os
import subprocess
import sys
import time

build, seconds = sys.argv[1], float(sys.argv[2])


def program(*prefix, **environment):
    return subprocess.Popen([*prefix, build + "/tests/churn"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env=dict(os.environ, **environment))


def tell(child, command):
    child.stdin.write(command + "\n")
    child.stdin.flush()
    return json.loads(child.stdout.readline())


def status(pid):
    out = subprocess.run([build + "/bin/kymo", "status", "-f", "json"], capture_output=True, text=True).stdout
    return next(row for row in json.loads(out)["processes"] if row["pid"] == pid)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


plain, traced = program(), program(LD_PRELOAD=build + "/lib/libkymo-ros2.so")
for child in (plain, traced):
    tell(child, "keep 100")
used = {}
for name, child in (("plain", plain), ("traced", traced)):
    before = cpu_seconds(child.pid)
    for _ in range(10):
        tell(child, "churn 5000")
    used[name] = cpu_seconds(child.pid) - before
more = (used["traced"] - used["plain"]) / 50000
print(f"a node of 16 facts created and destroyed: {1e6 * more:.1f} us of CPU time more with the log, "
      f"{1e9 * more / 22:.0f} ns each of 16 facts and 6 ends, cleaning included")
first, end, most = None, time.monotonic() + seconds, 0
while time.monotonic() < end:
    said = tell(traced, "churn 5000")
    row = status(said["pid"])
    first = first or row["memory_bytes"]
    most = max(most, row["memory_bytes"])
    if row["init_events"] != said["live"] or row["init_dropped"]:
        raise SystemExit(f"soak: {row['init_events']} facts instead of {said['live']}, {row['init_dropped']} lost")
print(f"soak of {seconds:.0f} s: {said['nodes']} nodes, {said['facts']} facts, {said['live']} of them hold, none lost; "
      f"region {first / 2**20:.2f} MiB at first, {most / 2**20:.2f} MiB at most")
for child in (plain, traced):
    child.communicate("end\n")
PY
