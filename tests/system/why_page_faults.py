#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`kymo why` names page faults, as many as there were, where a callback touched pages that were not there; and each thread's
faults in the kernel's events are those that the kernel counts."""
import collections
import os
import re
import resource
import subprocess
import sys
import tempfile

from why import BUILD, KYMO, adds_up, read

COSTS = os.path.join(BUILD, "tests", "costs")
ROUNDS, PAGES = 20, 2048
NOTHING = "import os, sys; b = bytearray(int(sys.argv[1])); print(os.getpid())"


def record(directory, name, option):
    trace = os.path.join(directory, name)
    with subprocess.Popen([KYMO, "record", option, "-o", trace, "--", COSTS, str(ROUNDS)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, KYMO_DIR=os.path.join(directory, "run"))) as recorder:
        assert recorder.stdout.readline() == "ready\n"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        pid = int(subprocess.run([sys.executable, "-c", NOTHING, "3000000"], stdout=subprocess.PIPE, check=True).stdout)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        _, said = recorder.communicate("go\n", 60)
    assert recorder.returncode == 0, said
    return trace, said, (pid, after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt)


def counted(trace, pid):
    """Return: minor and major faults of a process of one thread, by the kernel's events; from its first switch on."""
    found, running = collections.Counter(), {}
    text = subprocess.run(["babeltrace2", os.path.join(trace, "kernel")], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        cpu = re.search(r"cpu_id = (\d+)", line)[1]
        if "sched_switch" in line:
            running[cpu] = int(re.search(r"next_tid = (\d+)", line)[1])
        elif running.get(cpu) == pid:
            found.update(re.findall(r"(minor-faults|major-faults|page_fault_user)", line))
    assert found["page_fault_user"] <= found["minor-faults"] + found["major-faults"] + 1, found
    return found["minor-faults"], found["major-faults"]


def main(directory):
    trace, said, (pid, minor, major) = record(directory, "all", "--kernel-all")
    if "recording without them" in said:
        print("skipped:", said)
        return 77
    if "were lost" not in said:
        its = counted(trace, pid)
        # What a child has before it is a process of its own is counted with it, and what it has in its last moments is not.
        assert abs(its[0] - minor) <= 0.06 * minor + 2 and abs(its[1] - major) <= 2, (its, minor, major)
    trace, said, (pid, *_) = record(directory, "trace", "--kernel")
    assert counted(trace, pid) == (0, 0)        # of what is not traced
    why = read("why", trace, "/costly timer 4 s", "--worst", str(ROUNDS))
    parts = adds_up(why)
    lost = re.search(r"(\d+) of the kernel's events were lost", said)
    least = PAGES - int(lost[1] if lost else 0)
    faulting = {r: sum(p["faults"] for p in its) for r, its in parts.items() if sum(p["faults"] for p in its) >= least}
    if "no room" in said:
        print("skipped: the kernel's rings were full:", said)
        return 77
    assert len(faulting) == ROUNDS // 10, (faulting, [(i["rank"], i["sentence"]) for i in why["instances"]][:5])
    for rank in faulting:
        part = next(p for p in parts[rank] if p["kind"] == "page_fault")
        assert least <= part["faults"] <= PAGES * 1.25, part       # a sanitizer touches pages, too
        ran = sum(p["ns"] for p in parts[rank] if p["kind"] in ("executing", "page_fault"))
        assert part["ns"] > ran / 2, (part, ran)
        instance = next(i for i in why["instances"] if i["rank"] == rank)
        other = sum(p["ns"] for p in parts[rank] if p["kind"] in ("preempted", "blocked"))
        assert instance["cause"] == "page_fault" or other > part["ns"] / 2, instance
        if instance["cause"] == "page_fault":
            assert re.search(rf"/costly timer 4 s spent .* in {part['faults']} page faults", instance["sentence"]), instance
    print(why["sentence"])
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as private:
        sys.exit(main(private))
