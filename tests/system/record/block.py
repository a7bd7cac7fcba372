#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`--block`: a program that is faster than its recorder waits, and nothing is lost; it does not wait without the option, for a
recorder that does not read, or in a thread of real-time priority."""
import json
import os
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, run, until

NUMBERS = os.path.join(BUILD, "tests", "numbers")
# Bursts of 20 000 events, far more than a ring of 16 KiB has room for.
BURSTS = "--threads", "1", "--rate", "200000", "--period", "100", "--seconds", "0.5"


def record(work, name, *words, before=()):
    """The process's account."""
    trace = f"{work}/{name}"
    run(*before, KYMO, "record", "-q", "-o", trace, "--ring-size", "16K", *words, "--", NUMBERS, *BURSTS, f"{work}/noted")
    process, = json.load(open(f"{trace}/kymo.json"))["processes"]
    return process


def stopped_recorder(work):
    """A recorder that stands still costs one wait, and not one for each event."""
    environment = dict(os.environ, KYMO_RING_SIZE="16K", KYMO_BLOCK="1s")
    recorder = subprocess.Popen([KYMO, "record", "-q", "-o", f"{work}/stopped"])
    # What the program writes before anybody records is neither recorded nor dropped.
    until("a recorder that answers", lambda: run(KYMO, "resume", status=None).returncode == 0)
    program = subprocess.Popen([KYMO, "run", "--", NUMBERS, "--threads", "1", "--rate", "20000", "--seconds", "60", f"{work}/noted"],
                               env=environment)

    def status():
        processes = json.loads(run(KYMO, "status", "--interval", "0", "--format", "json").stdout)["processes"]
        return [process["recorded"] for process in processes if process["pid"] == program.pid and process["recorded"]]
    until("events", status)
    recorder.send_signal(signal.SIGSTOP)
    noted = lambda: int.from_bytes(open(f"{work}/noted", "rb").read(8), sys.byteorder)
    before = noted()
    until("many events, none of which has room", lambda: noted() > before + 20000)
    recorder.send_signal(signal.SIGCONT)
    program.send_signal(signal.SIGINT)
    assert program.wait(300) == 0
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(300) == 0
    process, = json.load(open(f"{work}/stopped/kymo.json"))["processes"]
    assert process["dropped"] > 10000 and 1 <= process["waits"] < 200, process
    assert process["recorded"] + process["dropped"] == noted(), (process, noted())


def main():
    with tempfile.TemporaryDirectory(prefix="kymo-block-", dir="/dev/shm") as work:
        os.environ["KYMO_DIR"] = f"{work}/run"
        os.mkdir(f"{work}/run", 0o700)
        lost = record(work, "without")
        assert lost["dropped"] and not lost["waits"] and not lost["waited_ns"], lost
        whole = record(work, "with", "--block", "1s")
        assert not whole["dropped"] and whole["waits"] > 0 and whole["waited_ns"] > 0, whole
        assert whole["recorded"] == lost["recorded"] + lost["dropped"], (whole, lost)
        said = run(KYMO, "record", "-o", f"{work}/said", "--ring-size", "16K", "--block", "1s", "--", NUMBERS, *BURSTS,
                   f"{work}/noted").stderr
        assert "times for room" in said, said
        stopped_recorder(work)
        for wrong in "2s", "-1ms", "x":
            assert run(KYMO, "record", "--block", wrong, "--", "true", status=2)
        assert "requires a command" in run(KYMO, "record", "--block", "5ms", status=2).stderr
        if subprocess.run(["chrt", "-f", "1", "true"], capture_output=True, check=False).returncode:
            print("skipped in part: no real-time priority here")
            return
        urgent = record(work, "urgent", "--block", "1s", before=("chrt", "-r", "1"))
        assert urgent["dropped"] and not urgent["waits"], urgent


main()
