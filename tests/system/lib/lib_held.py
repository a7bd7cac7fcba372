# SPDX-License-Identifier: Apache-2.0
"""Whether the machine was busy with something else: a thread beside the test says how long it waited for a CPU. A test that compares
who had a CPU for how long may be repeated then, and only then: see judged()."""
import os
import threading
import time

from lib_test import Lost

LIMIT_NS = 50000000     # a CPU that comes that late is one of a machine that is busy with something else
STEP_S = 0.001


class Witness:
    """with Witness([0]) as witness: ... Afterwards witness.waits has (begin, end) in CLOCK_MONOTONIC ns of each time that a thread of
    normal priority, which sleeps for STEP_S again and again on these CPUs, came back later than it had to."""

    def __init__(self, cpus=None):
        self.cpus, self.waits, self.ended = cpus, [], False
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        if self.cpus:
            os.sched_setaffinity(0, self.cpus)      # of this thread alone
        due = time.monotonic_ns()
        while not self.ended:
            due += int(STEP_S * 10 ** 9)
            time.sleep(max(0, due - time.monotonic_ns()) / 10 ** 9)
            now = time.monotonic_ns()
            if now - due > LIMIT_NS // 10:
                self.waits.append((due, now))
            due = now

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()

    def longest(self, besides=()):
        """The longest wait in ns, without the time of @besides: (begin, end) of what the test itself had the CPU for."""
        return max((end - begin - sum(max(0, min(end, its[1]) - max(begin, its[0])) for its in besides)
                    for begin, end in self.waits), default=0)


def judged(verdict, waited_ns):
    """verdict(), which asserts. If it fails and a program had to wait for a CPU for more than LIMIT_NS, the run proves nothing."""
    try:
        return verdict()
    except AssertionError as error:
        if waited_ns <= LIMIT_NS:
            raise
        raise Lost(f"{waited_ns / 1e6:.0f} ms without a CPU, and: {error!r}") from error
