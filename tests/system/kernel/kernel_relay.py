#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: kernel
"""`kymo record --kernel --relay`: the kernel's events are a trace of their own in the session at the relay, kymo's and LTTng's, all of
them, and `kymo live` shows them in the order of time with what the programs did."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_kernel import skip_without, with_tracefs
from lib_send import KymoRelay, RELAYS
from lib_test import KYMO, ROBOT

KERNEL = re.compile(r"sched_|irq_|fault")


def record(directory, relay, *more, seconds="1"):
    """Return: how many events of the kernel, and of the programs, were sent, and whether some were lost."""
    done = subprocess.run([KYMO, "record", "--kernel", "--relay", relay.url("walk"), *more, "--", ROBOT, "--seconds", seconds, "--domain",
                           str(100 + os.getpid() % 100)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                          env=dict(os.environ, KYMO_DIR=os.path.join(directory, "run"), KYMO_SPOOL_DIR=os.path.join(directory, "spool")))
    assert done.returncode == 0, done
    events, facts = map(int, re.search(r"(\d+) events and (\d+) init events", done.stderr).groups())
    return int(re.search(r"kernel: (\d+) events", done.stderr)[1]), events + facts, done.stderr


def shown(text):
    """Return: lines of the kernel's events, and the others; they are in order."""
    lines = [line for line in text.splitlines() if line.startswith("[")]
    kernel = [line for line in lines if KERNEL.search(line)]
    return kernel, len(lines) - len(kernel)


def in_order(lines):
    times = [line.split("]")[0] for line in lines]
    assert times == sorted(times), next((a, b) for a, b in zip(times, times[1:]) if a > b)


def stored(directory, kind):
    with kind() as relay:
        kernel, others, said = record(directory, relay)
        session = relay.stored("walk")[0]
        assert os.path.exists(os.path.join(session, "kernel", "metadata")), session
        read = subprocess.run(["babeltrace2", "--no-delta", session], capture_output=True, text=True, check=True)
        mine = subprocess.run([KYMO, "dump", session], capture_output=True, text=True, check=True).stdout
        for text in read.stdout, mine:
            there, rest = shown(text)
            assert (len(there), rest) == (kernel, others), (kind, len(there), rest, said)
        lost = sum(map(int, re.findall(r"Tracer discarded (\d+) event", read.stderr)))
        told = sum(map(int, re.findall(r"(\d+) (?:of the kernel's )?events were (?:lost|dropped)", said)))
        assert lost == told, (read.stderr, said)
        in_order(read.stdout.splitlines())
        why = subprocess.run([KYMO, "query", session, "SELECT count(*) FROM callback_cpu WHERE own_cpu_ns > 0", "--format", "csv"],
                             capture_output=True, text=True, check=True).stdout
        assert int(why.split()[-1]) > 0, why
    print(f"{kind.name}: {kernel} events of the kernel, {others} others")


def live(directory):
    """From before the beginning until the end: nothing is missing, nothing comes too late."""
    with KymoRelay() as relay:
        env = dict(os.environ, KYMO_DIR=os.path.join(directory, "run"), KYMO_SPOOL_DIR=os.path.join(directory, "spool"))
        recorder = subprocess.Popen([KYMO, "record", "-q", "--kernel", "--relay", relay.url("walk"), "--", ROBOT, "--seconds", "1",
                                     "--domain", str(100 + os.getpid() % 100)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                    text=True, env=env)
        relay.until_session("walk")
        mine = subprocess.run([KYMO, "live", f"net://127.0.0.1:{relay.live}/walk"], capture_output=True, text=True, check=False)
        said = recorder.communicate()[1]
        assert recorder.returncode == 0, said
        assert mine.returncode == 0, mine.stderr
        whole = subprocess.run(["babeltrace2", "--no-delta", relay.stored("walk")[0]], capture_output=True, text=True, check=True).stdout
        there, others = shown(whole)
        seen, rest = shown(mine.stdout)
        assert (len(seen), rest) == (len(there), others), (len(seen), len(there), rest, others, mine.stderr)
        in_order([line for line in mine.stdout.splitlines() if line.startswith("[")])
    print(f"live: {len(there)} events of the kernel, {others} others")


if __name__ == "__main__":
    with_tracefs(__file__)
    with tempfile.TemporaryDirectory() as private:
        probe = subprocess.run([KYMO, "record", "--kernel-all", "-d", "1ms", "-o", os.path.join(private, "probe")], capture_output=True,
                               text=True, check=False, env=dict(os.environ, KYMO_DIR=os.path.join(private, "run")))
    skip_without(probe.stderr)
    for name in RELAYS:
        with tempfile.TemporaryDirectory() as private:
            stored(private, name)
    with tempfile.TemporaryDirectory() as private:
        live(private)
