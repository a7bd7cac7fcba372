#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""A multi-threaded executor whose threads emit 120 000 events a second each, with default settings: nothing is lost beside six
busy loops, nor while the recorder gets no CPU until the threads have emitted several times what their own rings hold."""
import os
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, TESTS, accounts, lossless, private, status, until, until_lossless

EXECUTOR = os.path.join(TESTS, "executor")


def start(directory, *arguments):
    return subprocess.Popen([KYMO, "record", "-q", "-o", directory + "/trace", "--", EXECUTOR, *map(str, arguments)],
                            env=private(directory), stdout=subprocess.PIPE, text=True)


def totals(directory, recorder, produced):
    """Return: the number of lost events."""
    assert recorder.wait() == 0
    total = accounts(directory + "/trace")["totals"]
    assert total["recorded"] + total["dropped"] == int(produced), (total, produced)
    return total["dropped"]


def beside_busy_loops(directory):
    recorder = start(directory, 4, 120000, 40000, 6)
    lossless(totals(directory, recorder, recorder.communicate()[0]))


def without_recorder(directory):
    """Four threads write 140 KB each; their own rings have 64 and 32 KiB."""
    gate = directory + "/gate"
    recorder = start(directory, 4, 120000, 10000, 0, gate)
    until("the program is recorded", lambda: status(private(directory)).get("executor", {}).get("state") == "record")
    recorder.send_signal(signal.SIGSTOP)
    with open(gate, "w", encoding="utf-8"):
        pass
    produced = recorder.stdout.readline()
    recorder.send_signal(signal.SIGCONT)
    dropped = totals(directory, recorder, produced)
    assert dropped == 0, dropped


until_lossless(beside_busy_loops, 5)
until_lossless(without_recorder)
