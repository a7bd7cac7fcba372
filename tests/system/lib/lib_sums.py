# SPDX-License-Identifier: Apache-2.0
"""For tests/system/record/sums.py: the file that its programs share, the programs, and what readers find in a trace."""
import collections
import json
import mmap
import os
import re
import struct
import subprocess

from lib_test import BUILD, KYMO, accounts, until

SUMS = os.path.join(BUILD, "tests/sums")
SLOTS, OF_PROGRAM, PROGRAMS = 256, 16, 4        # as in sums.c
HEAD, SLOT = struct.Struct("<6I16I16I"), struct.Struct("<6I3Q")
SLOTS_AT = HEAD.size
Slot = collections.namedtuple("Slot", "pid tid turn end ended left noted sure maybe")
EVENT = re.compile(r"ros2:rcl_publish: .*publisher_handle = 0x([0-9A-F]+), message = 0x([0-9A-F]+)")
FACT = re.compile(r"^.*? ros2:|cpu_id = \d+")    # what differs where a chunk has a fact of the chunk before again
DISCARDED = re.compile(r"WARNING: Tracer discarded (\d+) event")
MAYBE = "WARNING: Tracer may have discarded events"     # in front of a trace that begins later than its program


class Wrong(Exception):
    pass


def read_or_empty(pid, name):
    """Return: /proc/@pid/@name; empty: it has ended."""
    try:
        with open("/proc/%s/%s" % (pid, name), "rb") as file:
            return file.read()
    except OSError:
        return b""


def is_dead(pid):
    """Gone, or a zombie: then its files are closed and its locks released."""
    return read_or_empty(pid, "stat").rpartition(b")")[2].split()[:1] in ([], [b"Z"], [b"X"])


def check(condition, message, *values):
    if not condition:
        raise Wrong(message % values if values else message)


def sum_of(rows, key):
    return sum(row[key] for row in rows)


class Orders:
    """The file that programs and the test share."""

    def __init__(self, path):
        with open(path, "w+b") as file:
            file.truncate(SLOTS_AT + SLOTS * SLOT.size)
            self.memory = mmap.mmap(file.fileno(), 0)
        self.path, self.turn, self.steps = path, 0, 0
        self.undecided = set()          # threads that began while their topic was left out: a recorder may not know yet
        self.strange = set()            # programs in a time namespace of their own, which no recorder here records
        self.step()

    def step(self):
        """Each thread may emit some more."""
        self.steps += 1
        self.write(5, self.steps)

    def write(self, index, value):
        struct.pack_into("<I", self.memory, 4 * index, value)

    def slot(self, number):
        return Slot(*SLOT.unpack_from(self.memory, SLOTS_AT + SLOT.size * number))

    def slots(self):
        """Return: (number, slot) of each thread that ever was."""
        return [(number, slot) for number in range(SLOTS) for slot in [self.slot(number)] if slot.tid]

    def end_thread(self, number):
        struct.pack_into("<I", self.memory, SLOTS_AT + SLOT.size * number + 12, 1)

    def is_strange(self, number):
        return number // OF_PROGRAM in self.strange

    def counts(self):
        """Return: {slot number: (at least so many produced, at most)}: at most one more is underway."""
        return {number: (slot.sure, slot.maybe + (not slot.ended) + (slot.left if number in self.undecided else 0))
                for number, slot in self.slots() if not self.is_strange(number)}


class Program:
    def __init__(self, round_, number):
        self.round, self.number, self.first = round_, number, number * OF_PROGRAM
        self.threads = self.forks = 0
        self.killed = False
        wrap = round_.draw.choice([way for way in round_.namespaces if number or "--time" not in way])
        if "--time" in wrap:
            round_.orders.strange.add(number)
        self.process = round_.start(*wrap, KYMO, "run", "--", SUMS, round_.orders.path, str(self.first))
        for _ in range(round_.draw.randint(1, 3)):
            self.begin_thread()

    def mine(self):
        return [(number, slot) for number, slot in self.round.orders.slots() if number // OF_PROGRAM == self.number]

    def begin_thread(self):
        if self.threads < OF_PROGRAM - 4:
            self.threads += 1
            self.round.orders.write(6 + self.number, self.threads)

    def fork(self):
        if self.forks < 2:
            self.forks += 1
            self.round.orders.write(22 + self.number, self.forks)

    def is_complete(self):
        return len(self.mine()) == self.threads + 2 * self.forks

    def pids(self):
        """Its processes as this namespace sees them: the program may be behind unshare, and has children."""
        mine = b"\0%s\0%d\0" % (self.round.orders.path.encode(), self.first)
        return [pid for pid in filter(str.isdigit, os.listdir("/proc")) if read_or_empty(pid, "cmdline").endswith(mine)]

    def kill(self):
        """Its children die with it. One that is still dying looks alive to a recorder, and its region stays for the next one."""
        pids = self.pids()
        for number, _ in self.mine():
            self.round.dead.add(number)
        self.killed = True
        self.process.kill()
        self.process.wait()
        until("the end of the program's processes", lambda: all(is_dead(pid) for pid in pids))


class Trace:
    """Of one recorder or sink; chunks count as one. @since, @until: counts around its begin and its end."""

    def __init__(self, path, killed=False):
        self.path, self.killed = path, killed
        self.numbers = collections.defaultdict(list)
        self.lost = 0

    def parts(self):
        archives = os.path.join(self.path, "archives")
        names = sorted(os.listdir(archives), key=lambda name: int(name.rsplit("-", 1)[1])) if os.path.isdir(archives) else []
        return [os.path.join(archives, name) for name in names] or [self.path]

    def is_begun(self):
        return any("metadata" in files for _, _, files in os.walk(self.path))

    def read(self):
        self.info = json.loads(subprocess.run([KYMO, "info", self.path, "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)
        compressed = any(name.endswith(".zst") for _, _, names in os.walk(self.path) for name in names)
        words = [KYMO, "dump"] if compressed else ["babeltrace2", "--no-delta"]
        done = subprocess.run([*words, self.path], capture_output=True, text=True, check=False)
        for line in done.stderr.splitlines() if not compressed else []:
            discarded = DISCARDED.match(line)
            check(discarded or not line or line.startswith(MAYBE), "babeltrace2 about %s: %s", self.path, line)
            self.lost += int(discarded[1]) if discarded else 0
        if compressed:
            self.lost = self.info["lost"]
        check(not done.returncode, "%s ended with %d, reading %s", words[0], done.returncode, self.path)
        for handle, number in EVENT.findall(done.stdout):
            self.numbers[int(handle, 16) // 2 - 1].append(int(number, 16))
        for slot, numbers in self.numbers.items():
            check(all(a < b for a, b in zip(numbers, numbers[1:])), "%s: the events of slot %d are not each once, in order", self.path, slot)
        check(self.info["lost"] == self.lost, "%s: kymo says that %d are lost, babeltrace2 %d", self.path, self.info["lost"], self.lost)
        facts = len({FACT.sub("", line) for line in done.stdout.splitlines() if "rcl_publish:" not in line})
        check(self.info["events"] == self.recorded() + facts, "%s: kymo reads %d events, %s %d and %d facts", self.path,
              self.info["events"], words[0], self.recorded(), facts)
        return self

    def recorded(self):
        return sum(map(len, self.numbers.values()))

    def check_accounts(self, slots):
        """What kymo.json says of each thread, and of all, is what the readers count."""
        account = accounts(self.path)
        totals = account["totals"]
        for sum_, seen in ("recorded", self.recorded()), ("dropped", self.lost), ("unwritten", 0), ("corrupt_bytes", 0):
            check(totals[sum_] == seen, "%s: kymo.json has %s = %d, the readers see %d", self.path, sum_, totals[sum_], seen)
        seen = collections.Counter()
        for number, slot in slots:
            seen[slot.pid, slot.tid] += len(self.numbers.get(number, []))
        told = collections.Counter()
        for process in account["processes"]:
            for thread in process["threads"]:
                told[process["pid"], thread["tid"]] += thread["recorded"]
            check(sum_of(process["threads"], "recorded") == process["recorded"] and
                  sum_of(process["threads"], "dropped") + process["dropped_no_ring"] == process["dropped"],
                  "%s: the threads of process %d do not add up", self.path, process["pid"])
        check(+told == +seen, "%s: kymo.json has %s, the readers see %s", self.path, +told, +seen)

    def not_recorded(self):
        """Return: ({(pid, tid): dropped}, {pid: dropped without a ring}, {(pid, tid): left out by a rule, after they were produced})."""
        threads, rings, filtered = collections.Counter(), collections.Counter(), collections.Counter()
        for process in accounts(self.path)["processes"]:
            rings[process["pid"]] += process["dropped_no_ring"]
            for thread in process["threads"]:
                threads[process["pid"], thread["tid"]] += thread["dropped"]
                filtered[process["pid"], thread["tid"]] += thread["filtered"]
        return threads, rings, filtered
