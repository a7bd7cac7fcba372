#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, kernel
"""`kymo record --kernel` where the kernel's events cannot be had: another user, namespaces of users, mounts and PIDs, tracefs that is
not there, root without capabilities. Each time it is an error that says why, and nothing is started. With --kernel=if-possible it is
said once, all else is recorded, and the command's status is passed on. `kymo doctor` says the same. What the messages tell to do is
done, and does it."""
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_kernel import TRACEFS, with_tracefs
from lib_test import BUILD, skip

NUMBERS = os.path.join(BUILD, "tests/numbers")     # its threads count on, until a number or for a time
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
BARE = ["setpriv", "--bounding-set", "-perfmon,-sys_admin", "--inh-caps", "-perfmon,-sys_admin"]
USERS = ["unshare", "-Ur"]
PIDS = ["unshare", "-p", "-f", "--mount-proc"]
ALL = ["unshare", "-Urpfm", "--mount-proc"]
HIDDEN = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /sys/kernel/debug; mount -t tmpfs none " + TRACEFS + '; exec "$@"', "sh"]
PERF = {"KYMO_KERNEL_SOURCE": "perf_event_open"}

# Inside of what, with which environment; what is said.
CASES = {
    "another user": (NOBODY, {}, r"this user cannot read it: run kymo as root; or sudo mount -o remount.* sudo setcap"),
    "a user namespace of his": ([*NOBODY, *USERS], {}, r"nobody has these in a user namespace .*: run kymo as root on the host"),
    "all namespaces of his": ([*NOBODY, *ALL], {}, r"nobody has these in a user namespace"),
    "without tracefs": (HIDDEN, {}, r"it is not mounted here: mount -t tracefs tracefs /sys/kernel/tracing; .* -v /sys/kernel/tracing:"),
    "another user, without tracefs": ([*HIDDEN, *NOBODY], {}, r"it is not mounted here: run kymo as root after mount .* sudo mount -t tracefs -o mode="),
    "PIDs of its own": (PIDS, {}, r"this container has its own, .*--pid=host; --kernel-all"),
    "all namespaces of root": (ALL, {}, r"this container has its own, .*--pid=host; --kernel-all|nobody has these in a user namespace"),
    "root without capabilities": (BARE, PERF, r"in this container root does not have it: .*--cap-add PERFMON"),
}


def is_possible(inside):
    return subprocess.run([*inside, "true"], capture_output=True, check=False).returncode == 0


class Place:
    """A directory of one recording, and how kymo is called there."""

    def __init__(self, directory, inside=(), more=None, kymo=os.path.join(BUILD, "bin", "kymo")):
        self.path = tempfile.mkdtemp(dir=directory)
        os.chmod(self.path, 0o777)
        self.trace, self.inside, self.kymo = os.path.join(self.path, "trace"), inside, kymo
        self.env = dict(os.environ, KYMO_DIR=os.path.join(self.path, "run"), **(more or {}))
        if kymo != os.path.join(BUILD, "bin", "kymo"):
            self.env["KYMO_PRELOAD"] = os.path.join(BUILD, "lib", "libkymo-ros2.so")

    def run(self, *words):
        return subprocess.run([*self.inside, self.kymo, *words], capture_output=True, text=True, env=self.env, check=False)

    def refused(self, *how):
        """Return: why this recording was refused."""
        done = self.run("record", *how, "-o", self.trace, "--", "touch", self.path + "/started")
        assert done.returncode == 1 and not done.stdout, done
        assert not os.path.exists(self.path + "/started") and not os.path.exists(self.trace), done
        said = re.fullmatch(r"kymo record: (.*); or record without what is missing: --kernel=if-possible\n", done.stderr)
        assert said, done
        return said[1]

    def record(self, *how):
        """Return: what was said of the kernel's events, "" if they are there."""
        how = how or ["--kernel=if-possible"]
        command = f"{NUMBERS} --threads 1 --die-at 500 {self.path}/noted; exit 7"
        done = self.run("record", *how, "-o", self.trace, "--", "sh", "-c", command)
        assert done.returncode == 7, done
        with open(os.path.join(self.trace, "kymo.json"), encoding="utf-8") as file:
            accounts = json.load(file)
        assert accounts["totals"]["recorded"] == 500, accounts["totals"]
        said = re.findall(r"kymo record: (kernel events .*); recording without them\n", done.stderr)
        there = os.path.isdir(os.path.join(self.trace, "kernel"))
        if there:
            read = subprocess.run(["babeltrace2", self.trace], capture_output=True, text=True, check=True).stderr
            complaints = [line for line in read.splitlines() if line and "discarded" not in line]
            assert not complaints and (not read or "were lost" in done.stderr), read
        assert len(said) == (not there) and there == ("kernel" in accounts) == ("\nkernel: " in done.stderr), done
        assert "kernel events" not in re.sub(r".*recording without them\n", "", done.stderr), done
        return said[0] if said else ""

    def doctor(self):
        return re.search(r"^kernel events +\S+ +(.*)", self.run("doctor").stdout, re.M)[1]


def denied(directory):
    def one(name):
        inside, more, wanted = CASES[name]
        if not is_possible(inside):
            return f"{name}: not possible here"
        place = Place(directory, inside, more)
        said = place.record()
        assert re.search(wanted, said), (name, said)
        for how in ["-k"], ["--syscalls"], ["--cycles", "--flight", "1s"], ["--syscalls", "--kernel-all"]:
            if "--kernel-all" not in how or "container has its own" not in said:
                assert Place(directory, inside, more).refused(*how) == said, (name, how)
        if not more:
            assert said in place.doctor(), (name, said, place.doctor())
        return f"{name}: {said[:70]}..."

    with concurrent.futures.ThreadPoolExecutor(4) as pool:      # they mostly wait
        print(*pool.map(one, CASES), sep="\n")


def all_of_a_container(directory):
    """What the message says of --kernel-all."""
    if is_possible(PIDS):
        assert Place(directory, PIDS).record("--kernel-all") == ""


def mounted_again(directory):
    """What it says is to be done without tracefs."""
    said = Place(directory, HIDDEN).record()
    command = re.search(r"here: (mount -t tracefs .*?);", said)[1]
    again = [*HIDDEN, "sh", "-c", command + ' && exec "$@"', "sh"]
    place = Place(directory, again)
    assert place.record() == "" and "through tracefs" in place.doctor(), place.doctor()


@contextlib.contextmanager
def tracefs_as_it_was():
    was = os.stat(TRACEFS)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", f"remount,mode={stat.S_IMODE(was.st_mode):o},gid={was.st_gid}", TRACEFS], check=True)


def granted(directory):
    """The commands for who is not root, one after the other, as they are said."""
    copy = os.path.join(directory, "kymo")
    shutil.copy(os.path.join(BUILD, "bin", "kymo"), copy)
    # Who has capabilities cannot be looked into by the leak checker.
    more = {"ASAN_OPTIONS": "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")}

    def follow(command):
        command = command.replace("sudo ", "").replace("$(id -g)", "65534").replace("$(command -v kymo)", copy)
        print(command)
        return subprocess.run(["sh", "-c", command], check=False, stderr=subprocess.DEVNULL).returncode == 0

    with tracefs_as_it_was():
        place = Place(directory, NOBODY, more, copy)
        said = place.record()
        told = re.search(r"or (sudo mount .*) and, once, (sudo setcap .*)", said)
        assert told, said
        mount, setcap = told.groups()
        assert follow(mount)
        place = Place(directory, NOBODY, more, copy)
        said = place.record()
        assert said == "" or setcap in said, (setcap, said)
        if said and not follow(setcap):
            print("no capabilities of files here")
            return
        place = Place(directory, NOBODY, more, copy)
        if place.run("--version").returncode != 0:
            print("this build does not start with capabilities")     # address space randomization comes back with them
            return
        assert place.record() == "" and "through perf_event_open" in place.doctor(), place.doctor()


def main():
    if os.geteuid() != 0 or not os.access(TRACEFS + "/instances", os.W_OK):
        skip("tracefs cannot be written here")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        if Place(directory).record():
            skip("the kernel's events are not available")
        for test in denied, all_of_a_container, mounted_again, granted:
            if test is not denied and not is_possible(HIDDEN):
                continue
            test(directory)
    print(f"{time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    with_tracefs(__file__)
    main()
