#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: kernel
"""`kymo record --kernel --relay`: the kernel's events are a trace of their own in the session at the relay, kymo's and LTTng's, all of
them, and `kymo live` shows them in the order of time with what the programs did."""
import functools
import os
import re
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_kernel import skip_without, with_tracefs
from lib_send import KymoRelay, RELAYS
from lib_test import KYMO, in_directory, kymo, private, query, record, robot, run

KERNEL = re.compile(r"sched_|irq_|fault")


def sent(directory, relay, *more, seconds="1"):
    """Return: how many events of the kernel, and of the programs, were sent, and whether some were lost."""
    done = run(KYMO, "record", "--kernel", "--relay", relay.url("walk"), *more, "--", *robot(seconds),
               env=private(directory, KYMO_SPOOL_DIR=os.path.join(directory, "spool")))
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
        kernel, others, said = sent(directory, relay)
        session = relay.stored("walk")[0]
        assert os.path.exists(os.path.join(session, "kernel", "metadata")), session
        read, mine = run("babeltrace2", "--no-delta", session), kymo("dump", session)
        for text in read.stdout, mine:
            there, rest = shown(text)
            assert (len(there), rest) == (kernel, others), (kind, len(there), rest, said)
        lost = sum(map(int, re.findall(r"Tracer discarded (\d+) event", read.stderr)))
        told = sum(map(int, re.findall(r"(\d+) (?:of the kernel's )?events were (?:lost|dropped)", said)))
        assert lost == told, (read.stderr, said)
        in_order(read.stdout.splitlines())
        assert query(session, "SELECT count(*) AS n FROM callback_cpu WHERE own_cpu_ns > 0")[0]["n"] > 0, session
    print(f"{kind.name}: {kernel} events of the kernel, {others} others")


def live(directory):
    """From before the beginning until the end: nothing is missing, nothing comes too late."""
    with KymoRelay() as relay:
        recorder = subprocess.Popen([KYMO, "record", "-q", "--kernel", "--relay", relay.url("walk"), "--", *robot(1)], text=True,
                                    env=private(directory, KYMO_SPOOL_DIR=os.path.join(directory, "spool")),
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        relay.until_session("walk")
        mine = run(KYMO, "live", f"net://127.0.0.1:{relay.live}/walk", status=None)
        said = recorder.communicate()[1]
        assert recorder.returncode == 0, said
        assert mine.returncode == 0, mine.stderr
        whole = run("babeltrace2", "--no-delta", relay.stored("walk")[0]).stdout
        there, others = shown(whole)
        seen, rest = shown(mine.stdout)
        assert (len(seen), rest) == (len(there), others), (len(seen), len(there), rest, others, mine.stderr)
        in_order([line for line in mine.stdout.splitlines() if line.startswith("[")])
    print(f"live: {len(there)} events of the kernel, {others} others")


if __name__ == "__main__":
    with_tracefs(__file__)
    in_directory(lambda directory: skip_without(record(os.path.join(directory, "probe"), "--kernel-all", "--kernel=if-possible", "-d", "1ms",
                                                     status=None).stderr))
    for kind in RELAYS:
        in_directory(functools.partial(stored, kind=kind))
    in_directory(live)
