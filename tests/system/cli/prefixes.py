#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Launch prefixes: which of them a recording gets through, and what record, run and doctor say of the others, and of programs that take no
preload library. Each is run, unless its tool is missing; what record advises is done, and must help."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, check, in_directory, until

ROOT = os.geteuid() == 0
LOADER = next((path for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(path)), "ld.so")
STRIPPED, USER = "takes LD_PRELOAD away", "makes it another user's"
GONE, ELSEWHERE = "takes KYMO_SESSION away", "has it started elsewhere"

# (prefix, what record says; None: it is recorded). Run with ./node behind them.
RUN = [
    ("nice -n 5", None), ("nice -n5", None), ("nice --adjustment 5", None), ("ionice -c 3", None), ("chrt -o 0", None), ("taskset 3", None),
    ("timeout -k 9 99", None), ("stdbuf -o L", None), ("setsid -w", None), ("nohup", None), ("prlimit --nofile=100", None), ("env A=1", None),
    ("env -u FOO -C . A=1", None), (LOADER, None), (f"{LOADER} --library-path .", None), ("nice nice -n 1 env", None),
    ("env -i", STRIPPED), ("env -", STRIPPED), ("env -u LD_PRELOAD", STRIPPED), ("env -uLD_PRELOAD", STRIPPED), ("env --unset=LD_PRELOAD A=1", STRIPPED),
    ("nice -n 5 env -i B=2", STRIPPED), ("env LD_PRELOAD=", "sets LD_PRELOAD to something else"), ("env -u KYMO_SESSION", GONE),
    ("env KYMO_DISABLE=1", "sets KYMO_DISABLE=1"), ("env KYMO_DIR=/proc/nowhere", "gives another KYMO_DIR"), ("setpriv --reset-env", STRIPPED),
]
if ROOT:
    RUN += [("setpriv --reuid 0", None), ("setpriv --reuid 4711 --clear-groups", USER), ("setpriv --reuid=4711 --clear-groups --", USER),
            ("runuser -u nobody --", USER)]

# (words, the program in them, what doctor says; None: nothing is in the way). Not run: of any tool.
LOOKED_AT = [
    ("chrt -f 10 ./node", "./node", None), ("taskset -c 0-1 ./node -x", "./node", None), ("strace -f -o out ./node", "./node", None),
    ("valgrind --tool=none ./node", "./node", None), ("numactl -C 1 ./node", "./node", None), ("/usr/bin/time -f %e ./node", "./node", None),
    ("gdb --args ./node 1", "./node", None), ("systemd-run --user --scope -p A=1 ./node", "./node", None),
    ("sudo ./node", "./node", STRIPPED), ("sudo -u root -E A=1 ./node", "./node", STRIPPED), ("doas -u root ./node", "./node", STRIPPED),
    ("pkexec --user root ./node", "./node", STRIPPED), ("systemd-run --user -p A=1 --unit x ./node", "./node", "started by systemd"),
    ("su nobody -c ./node", "su", USER), ("runuser nobody -c ./node", "runuser", USER), ("docker run --rm image ./node", "docker", ELSEWHERE),
    ("ssh host ./node", "ssh", ELSEWHERE), ("tmux new ./node", "tmux", ELSEWHERE), ("nice -n 1 screen ./node", "screen", ELSEWHERE),
    ("./node sudo env -i", "./node", None), ("env -S 'A=1 ./node'", "env", None),
]

SOURCES = {
    "node": """void ros_trace_rcl_init(const void *); void ros_trace_rcl_publish(const void *, const void *);
int main(int argc, char **argv) { ros_trace_rcl_init(argv); ros_trace_rcl_publish(argv, argv); return argc > 9; }""",
    "waits": """#include <stdio.h>
#include <unistd.h>
void ros_trace_rcl_init(const void *);
int main(int argc, char **argv) { (void)argc; ros_trace_rcl_init(argv); printf("%d\\n", getpid()); fflush(stdout); for (;;) pause(); }""",
    "fixed": "int main(void) { return 0; }",
}
STUB = """void ros_trace_rcl_init(const void *c) { (void)c; }
void ros_trace_rcl_publish(const void *p, const void *m) { (void)p, (void)m; }"""


class Place:
    def __init__(self, work):
        self.work, self.number = work, 0
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("KYMO_", "LD_"))}
        self.environment.update(HOME=work, KYMO_DIR=f"{work}/run", PATH=f"{os.environ['PATH']}:{work}/bin:/usr/sbin:/sbin")
        for name in "run", "bin":
            os.mkdir(f"{work}/{name}", 0o700)
        for name in {words.split()[0] for words, _, _ in LOOKED_AT} | {"screen"}:
            if "/" not in name:
                self.script(f"bin/{name}", "exit 1")
        self.script("wrapper", 'unset LD_PRELOAD\n"$@"')
        self.script("launcher", '"$@"')
        self.compile(["-shared", "-fPIC", "-o", "libtracetools.so"], STUB)
        for name, source in SOURCES.items():
            self.compile(["-o", name, *(["-static"] if name == "fixed" else ["-L.", f"-Wl,--no-as-needed,-rpath,{work}", "-ltracetools"])], source)
        if ROOT:
            shutil.copy(f"{work}/node", f"{work}/secure")
            os.chown(f"{work}/secure", 1, 1)
            os.chmod(f"{work}/secure", 0o4755)
            os.chmod(work, 0o711)

    def script(self, name, text):
        with open(f"{self.work}/{name}", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(f"{self.work}/{name}", 0o755)

    def compile(self, words, source):
        subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-", "-x", "none", *words], cwd=self.work, input=source, text=True, check=True)

    def run(self, line, **more):
        return subprocess.run(["sh", "-c", line], cwd=self.work, env=dict(self.environment, **more), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300, check=False)

    def record(self, words, options="", **more):
        self.number += 1
        return self.run(f"exec {KYMO} record -o trace{self.number} {options} -- {words}", **more)


def prefixes(place):
    for prefix, wanted in RUN:
        if not shutil.which(prefix.split()[0], path=place.environment["PATH"]):
            continue
        done = place.record(f"{prefix} ./node")
        if wanted is None:
            check(done.returncode == 0 and "1 event and 1 init event" in done.stderr.replace("events", "event"), prefix, "is not recorded:", done)
            continue
        check(done.returncode == 6 and "nothing was traced" in done.stderr and wanted in done.stderr, prefix, "is not told:", done)
        check(f'"kymo doctor -- {prefix} ./node" shows more' in done.stderr, prefix, "leads to no doctor:", done)
        advice = re.search(r"put kymo behind it: (.*) kymo record -o DIR -- (.*)", done.stderr)
        check(advice, prefix, "has no advice:", done)
        if advice and wanted in (STRIPPED, GONE):
            helped = place.run(f"{advice[1]} env KYMO_DIR={place.work}/run {KYMO} record -o followed{place.number} -- {advice[2]}")
            check(helped.returncode == 0, prefix, "is not helped by what is advised:", helped)


def looks(place):
    for words, program, wanted in LOOKED_AT:
        done = place.run(f"{KYMO} doctor --format json -- {words}")
        found = json.loads(done.stdout)["checks"] if done.returncode in (0, 1) else []
        said = [entry for entry in found if entry["check"] == "command"]
        names = [entry["found"] for entry in found if entry["check"] == "program"]
        check(names and os.path.basename(names[0]) == os.path.basename(program), words, "has the program", names, "not", program, done.stderr)
        check(wanted is None or any(entry["result"] == "problem" and wanted in entry["found"] and "kymo record" in entry["remedy"] for entry in said),
              words, "says", said)
        check(wanted is not None or all(entry["result"] == "ok" for entry in said), words, "says", said)


def runs(place):
    """kymo run says it before, and runs the command all the same."""
    for words, wanted in ("env -i ./node", STRIPPED), ("./fixed", "statically linked"), ("./node", None), ("nice ./node", None), \
            ("env -u KYMO_SESSION ./node", None):
        done = place.run(f"{KYMO} run -- {words}")
        check(done.returncode == 0 and (f"this command cannot be recorded: " in done.stderr and wanted in done.stderr if wanted else not done.stderr),
              "run --", words, "says", done)


def programs(place):
    cases = [("./fixed", "./fixed: statically linked", "link it dynamically"), ("chrt -o 0 ./fixed", "./fixed: statically linked", ""),
             ("/usr/bin/true", "call ros_trace_*", "choose a ROS 2 program"), ("./launcher true", "the command produced no event", "kymo doctor -p PID"),
             ("sh -c :", "the command produced no event", "sudo and env -i")]
    if ROOT:
        cases += [("./secure", "the loader ignores LD_PRELOAD", "in another way")]
    for words, wanted, remedy in cases:
        done = place.record(words)
        check(done.returncode == 6 and wanted in done.stderr and remedy in done.stderr, words, "says", done)
    done = place.record("./node", KYMO_DISABLE="1")
    check(done.returncode == 6 and "KYMO_DISABLE=1 is in the environment" in done.stderr, "KYMO_DISABLE says", done)


def descendants(place):
    """What a launcher starts: seen while it runs, as it is not in the words."""
    for words, wanted in ("./wrapper ./waits", "was started without"), ("./launcher sh -c 'env -i ./waits; :'", "was started without"), \
            ("./launcher sh -c 'KYMO_DIR=$PWD/bin ./waits; :'", "it has "):
        place.number += 1
        recorder = subprocess.Popen(["sh", "-c", f"exec {KYMO} record -o trace{place.number} -- {words}"], cwd=place.work, env=place.environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pid = int(recorder.stdout.readline())
        recorder.send_signal(signal.SIGTERM)            # as a Ctrl-C: it looks before anything ends
        try:
            until("the recorder", lambda: recorder.poll() is not None)
        finally:
            with contextlib.suppress(ProcessLookupError):   # the recorder ends it, too
                os.kill(pid, signal.SIGKILL)            # or its end of the pipes stays open
        said = recorder.communicate(timeout=300)[1]
        check(f"process {pid} (waits): " in said and wanted in said and "nothing was traced" in said, words, "says", said)
    # With all other variables gone, too, what doctor advises.
    done = place.record(f"./launcher env -i KYMO_DIR={place.work}/run {KYMO} run -- ./node", "--all")
    check(done.returncode == 0, "record --all does not get it:", done)


def main(work):
    place = Place(work)
    for part in prefixes, looks, runs, programs, descendants:
        part(place)
    print(f"{len(RUN)} prefixes were run, {len(LOOKED_AT)} looked at")


in_directory(main)
