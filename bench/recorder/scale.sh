#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A whole vehicle under `ulimit -n 1024`: what the recorder needs for many processes with many threads.
# usage: scale.sh [BUILD]; BENCH_PROCESSES, BENCH_THREADS, BENCH_RATE (events/s of all together),
# BENCH_SECONDS: how long it is watched, BENCH_BURST: events of a thread at a time, BENCH_READ=0: without
# babeltrace2, which takes minutes.
# Its CPU time is that of the recorder alone, between two looks while all threads run. What the kernel takes for
# writing the same bytes is measured behind it: most of it goes for new pages, and differs much from machine to machine.
set -eu
build=$(realpath "${1:-${KYMO_BUILD:-build}}")
processes=${BENCH_PROCESSES:-300} threads=${BENCH_THREADS:-30} rate=${BENCH_RATE:-500000}
seconds=${BENCH_SECONDS:-20} burst=${BENCH_BURST:-50}
warm=15	# until all threads run, the recorder has found them, and what they fill is written as fast as they do
ulimit -n 1024
scratch=$(mktemp -d /dev/shm/kymo-bench-XXXXXX)
recorder='' fleet=''
export KYMO_DIR="$scratch/run"

cleanup() {
	for pid in $recorder $fleet; do kill "$pid" 2>/dev/null || true; done
	rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# cpu PID: user and system ticks so far
cpu() {
	awk '{ print $(NF - 38), $(NF - 37) }' "/proc/$1/stat"
}

mkdir -m 700 "$KYMO_DIR"
"$build/bin/kymo" record -q -o "$scratch/trace" ${BENCH_STREAMS:+--streams "$BENCH_STREAMS"} >"$scratch/log" 2>&1 &
recorder=$!
# What is emitted before the programs are recorded is no event of the recording, but the fleet may count it.
for ((i = 0; i < 600; i++)); do
	[ -e "$scratch/trace/kymo.json" ] && break
	kill -0 "$recorder" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
	sleep 0.1
done
"$build/tests/fleet" "$processes" "$threads" "$rate" $((warm + seconds + 2)) "$burst" >"$scratch/produced" &
fleet=$!
sleep "$warm"
read -r user system < <(cpu "$recorder")
begin=$(date +%s%N) bytes=$(du -sb "$scratch/trace" | cut -f1)
sleep "$seconds"
read -r user_after system_after < <(cpu "$recorder")
end=$(date +%s%N) bytes=$(($(du -sb "$scratch/trace" | cut -f1) - bytes))
regions=$(find "$KYMO_DIR" -name '*.region' | wc -l)
fds=$(find "/proc/$recorder/fd" -mindepth 1 | wc -l)
shared=$(du -s --block-size=1K "$KYMO_DIR" | cut -f1)
private=$(awk '/^RssAnon/ { print $2 }' "/proc/$recorder/status")
wait "$fleet"
fleet=
sleep 1
kill -INT "$recorder"
wait "$recorder" || cat "$scratch/log" >&2
recorder=
python3 - "$scratch" "$(getconf CLK_TCK)" "$((user_after - user))" "$((system_after - system))" "$((end - begin))" "$regions" "$fds" "$shared" "$private" "$bytes" <<'EOF'
import json, os, resource, sys
scratch = sys.argv[1]
tick, user, system, ns, regions, fds, shared, private, bytes = map(int, sys.argv[2:])
produced = {}
for line in open(scratch + "/produced"):
    said = json.loads(line)
    for tid, (_, events) in said["threads"].items():
        produced[said["pid"], int(tid)] = events
accounts = json.load(open(scratch + "/trace/kymo.json"))
# Of processes that ended some time ago kymo.json has sums; each of them is a line of a list.
processes, earlier = accounts["processes"], accounts.get("earlier", {})
if "file" in earlier:
    with open(os.path.join(scratch, "trace", earlier["file"]), "rb") as file:
        processes = [json.loads(line) for line in file.read(earlier["file_bytes"]).splitlines()] + processes
wrong = dict(produced)
for process in processes:
    for thread in process["threads"]:
        key = process["pid"], thread["tid"]
        wrong[key] = wrong.get(key, 0) - thread["recorded"] - thread["dropped"]
total = accounts["totals"]
size = sum(os.path.getsize(os.path.join(p, f)) for p, _, files in os.walk(scratch + "/trace") for f in files)
rate = total["recorded"] * bytes / size / (ns / 1e9)     # while it was watched, by what was written meanwhile
busy = (user + system) / tick / (ns / 1e9)
files = sum(len(f) for p, _, f in os.walk(scratch + "/trace") if not p.endswith("index"))
print(f"regions {regions}  threads {len(produced)}  events {sum(produced.values())}")
print(f"recorder: CPU {100 * busy:.1f} % of a core at {rate:.0f} events/s, {1e9 * busy / rate:.0f} ns each, "
      f"{100 * system / max(user + system, 1):.0f} % of that in the kernel"
      f"  descriptors {fds}  memory of its own {private / 1024:.1f} MiB")


def writing():
    """Seconds of CPU for nothing but writing as many bytes, to a new file in the same place."""
    piece, left = bytearray(256 << 10), bytes
    before = resource.getrusage(resource.RUSAGE_SELF)
    fd = os.open(scratch + "/reference", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    while left > 0:
        left -= os.write(fd, piece)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


alone = writing() / (ns / 1e9)
print(f"writing the same {bytes / (ns / 1e9) / 1e6:.1f} MB/s alone: {100 * alone:.1f} % of a core, "
      f"{alone * 1e9 / (bytes / (ns / 1e9) / 4096):.0f} ns for 4 KiB")
print(f"shared memory {shared / 1024:.0f} MiB   trace {files} files  {total['bytes'] / 1e6:.0f} MB")
print(f"recorded {total['recorded']}  dropped {total['dropped']}  processes {len(processes)}, {earlier.get('processes', 0)} of "
      f"them in a list  threads whose sum is wrong {sum(1 for n in wrong.values() if n)} of {len(wrong)}")
EOF
[ "${BENCH_READ:-1}" = 0 ] ||
	echo "babeltrace2 under ulimit -n 1024: $(babeltrace2 "$scratch/trace" --component sink.utils.counter \
		--params step=+0 | grep "Event message")"
