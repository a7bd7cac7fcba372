#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers, kernel
"""`kymo record --kernel` in chunks: each has the kernel's events of its time and opens by itself, none is lost or twice at a seam,
and what is said of the whole is the same as of one trace that was never cut."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_kernel import skip_without, with_tracefs
from lib_test import KYMO, ROBOT, lossless, ros_domain, running, until, until_lossless

ASK = {
    "runs": "SELECT node, callback, start_ns, duration_ns, own_cpu_ns, preempted_ns, waiting_ns, blocked_ns, preemptions, migrations "
            "FROM callback_cpu ORDER BY start_ns, node, callback",
    "instead": "SELECT callback, by_tid, by_name, sum(ns), sum(count) FROM callback_preemptions GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    "threads": "SELECT tid, name, cpu_ns, preempted_ns, waiting_ns, blocked_ns FROM thread_cpu ORDER BY tid",
    "states": "SELECT state, count(*), sum(duration_ns) FROM thread_states GROUP BY 1 ORDER BY 1",
}
HEAD = struct.Struct("<I16sIQQQQQQQI")      # of a packet: magic, uuid, stream, instance, begin, end, content, size, seq, discarded, cpu


def kymo(run, *words, status=0):
    done = subprocess.run([KYMO, *words], capture_output=True, text=True, check=False, env=dict(os.environ, KYMO_DIR=run))
    assert done.returncode == status, (words, done)
    return done.stdout


def chunks(trace):
    below = os.path.join(trace, "archives")
    if not os.path.isdir(below):
        return []
    return [os.path.join(below, name) for name in sorted(os.listdir(below), key=lambda name: int(name.rpartition("-")[2]))]


def lines(path):
    """Return: the kernel's events that babeltrace2 shows, and how many it says are missing."""
    text = subprocess.run(["babeltrace2", "--no-delta", "--clock-cycles", path], capture_output=True, text=True, check=True)
    assert "ERROR" not in text.stderr, text.stderr
    return text.stdout.splitlines(), sum(int(n) for n in re.findall(r"Tracer discarded (\d+) event", text.stderr))


def packets(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        head = list(HEAD.unpack_from(data, at))
        assert head[0] == 0xC1FC1FC1 and head[6] == head[7] and at + head[7] // 8 <= len(data), (path, at)
        yield head, data[at + HEAD.size:at + head[7] // 8]
        at += head[7] // 8


def join(parts, whole):
    """The kernel's streams of all chunks as one, as if nothing had been cut."""
    os.makedirs(whole)
    with open(os.path.join(parts[0], "kernel", "metadata"), "rb") as file:
        metadata = file.read()
    uuid = bytes.fromhex(re.search(rb'uuid = "([-0-9a-f]+)"', metadata)[1].decode().replace("-", ""))
    with open(os.path.join(whole, "metadata"), "wb") as file:
        file.write(metadata)
    for name in [name for name in os.listdir(os.path.join(parts[0], "kernel")) if name.startswith("channel")]:
        seq = before = 0
        with open(os.path.join(whole, name), "wb") as file:
            for part in parts:
                discarded = 0
                for head, body in packets(os.path.join(part, "kernel", name)):
                    discarded = head[9]
                    head[1], head[8], head[9] = uuid, seq, head[9] + before
                    file.write(HEAD.pack(*head) + body)
                    seq += 1
                before += discarded


def same_clock(one, other):
    """Each took the time of day when it began: some ns are between them."""
    text = []
    for path in one, other:
        with open(path, encoding="utf-8") as file:
            text.append(file.read())
    clock = re.compile(r"\nclock \{.*?\};", re.S)
    with open(other, "w", encoding="utf-8") as file:
        file.write(clock.sub(lambda _: clock.search(text[0])[0], text[1]))


def lose(parts):
    """One event is lost at the beginning of each chunk, on every CPU, before any other event of the chunk."""
    for part in parts:
        shutil.rmtree(os.path.join(part, "kernel", "index"))    # it has the counters, too
        for name in os.listdir(os.path.join(part, "kernel")):
            if name.startswith("channel"):
                path = os.path.join(part, "kernel", name)
                changed = [(head[:9] + [head[9] + bool(head[8])] + head[10:], body) for head, body in packets(path)]
                with open(path, "wb") as file:
                    for head, body in changed:
                        file.write(HEAD.pack(*head) + body)


def compare(run, trace, uncut):
    """Return: the answers, which are the same for both."""
    answers = {}
    for what, question in ASK.items():
        cut, whole = (kymo(run, "query", path, question, "--format", "csv") for path in (trace, uncut))
        assert cut == whole and cut.count("\n") > 1, (what, cut[:2000], whole[:2000])
        answers[what] = cut
    return answers


def log_of(trace):
    """What the recorder in the background said."""
    if not os.path.exists(trace + ".log"):      # nothing
        return ""
    with open(trace + ".log", encoding="utf-8") as file:
        return file.read()


def nap():
    """A program that sleeps all the time that chunks are made. Return: who it is, how often it was switched off, by the kernel."""
    with subprocess.Popen([sys.executable, "-c", "import time\nfor i in range(400): time.sleep(0.001)"]) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
    return child.pid, usage.ru_nvcsw + usage.ru_nivcsw


def same_as_uncut(directory):
    """The programs' events are also in a second trace, without chunks; the kernel's are put together by hand."""
    run, trace, uncut = (os.path.join(directory, name) for name in ("run", "trace", "uncut"))
    kymo(run, "start", "-q", "--kernel-all", "--rotate-time", "250ms", "-o", trace)
    kymo(run, "sink", "add", uncut)
    kymo(run, "run", "--", ROBOT, "--seconds", "0.7", "--domain", str(ros_domain()))
    pid, switches = nap()
    until("chunks", lambda: len(chunks(trace)) > 3)
    kymo(run, "stop", "-q")
    parts = chunks(trace)
    join(parts, os.path.join(uncut, "kernel"))
    same_clock(os.path.join(parts[0], "ust", "metadata"), os.path.join(uncut, "ust", "metadata"))
    counted, missing = 0, 0
    for part in parts:
        with open(os.path.join(part, "kymo.json"), encoding="utf-8") as file:
            kernel = json.load(file)["kernel"]
        shown, lost = lines(os.path.join(part, "kernel"))
        assert (kernel["recorded"], kernel["lost"]) == (len(shown), lost), (part, kernel, len(shown), lost)
        assert "sched_switch" in "".join(shown), part
        counted, missing = counted + len(shown), missing + lost
        kymo(run, "info", part)
    with open(os.path.join(trace, "kymo.json"), encoding="utf-8") as file:
        kernel = json.load(file)["kernel"]
    assert (kernel["recorded"], kernel["lost"], kernel["clock"]) == (counted, missing, "monotonic"), (kernel, counted, missing)
    with open(os.path.join(uncut, "kymo.json"), encoding="utf-8") as file:
        assert "kernel" not in json.load(file)
    # Page faults that the kernel counts but does not deliver are gaps in both, and tracefs delivers all the rest.
    lossless(missing if kernel["source"] != "tracefs" or "the rings were full" in log_of(trace) else 0)
    off = sum(f"prev_tid = {pid}," in line for line in lines(trace)[0])
    assert switches <= off <= switches + 1, (off, switches)      # the one at its very end nobody can count
    answers = compare(run, trace, uncut)
    lose(parts)
    shutil.rmtree(os.path.join(uncut, "kernel"))
    join(parts, os.path.join(uncut, "kernel"))
    assert compare(run, trace, uncut)["states"] != answers["states"], "the losses changed nothing"
    print(f"{len(parts)} chunks, {counted} events, {off} switches of a thread with {switches} by its own count")


def by_size(directory):
    """Where nothing is traced, too; old chunks go. The recorder of a busy machine may be late, and a chunk is as large as what happened
    meanwhile, but several fit into the limit."""
    run, trace = os.path.join(directory, "run"), os.path.join(directory, "trace")
    env = dict(os.environ, KYMO_DIR=run)
    with running(KYMO, "record", "-q", "--kernel-all", "--rotate-size", "64K", "--max-size", "4M", "-o", trace,
                 env=env, stderr=subprocess.PIPE, text=True) as recorder, \
            running(sys.executable, "-c", "import time\nwhile True: time.sleep(0.0002)") as busy:
        def first_is_gone():
            present = chunks(trace)
            return len(present) > 1 and not present[0].endswith("-1")
        until("the first chunk to go", first_is_gone)
        recorder.send_signal(signal.SIGINT)
        said = recorder.stderr.read()
        busy.kill()
        assert recorder.wait(300) == 0, said
    assert not chunks(trace)[0].endswith("-1"), chunks(trace)
    with open(os.path.join(trace, "kymo.json"), encoding="utf-8") as file:
        accounts = json.load(file)
    assert accounts["chunks"]["removed"] > 0 and accounts["kernel"]["recorded"] > 1000, accounts
    assert "sched_switch" in kymo(run, "list", trace, "--format", "json")


def compressed(directory):
    run, trace = os.path.join(directory, "run"), os.path.join(directory, "trace")
    kymo(run, "record", "-q", "--kernel-all", "--compress", "-d", "200ms", "-o", trace)
    names = os.listdir(os.path.join(trace, "kernel"))
    assert any(name.startswith("channel0_0.") for name in names) and "channel0_0" not in names, names
    assert "sched_switch" in kymo(run, "list", trace, "--format", "json")


if __name__ == "__main__":
    with_tracefs(__file__)
    with tempfile.TemporaryDirectory() as private:
        probe = subprocess.run([KYMO, "record", "--kernel-all", "--kernel=if-possible", "-d", "1ms", "-o", os.path.join(private, "probe")],
                               capture_output=True, text=True, check=False, env=dict(os.environ, KYMO_DIR=os.path.join(private, "run")))
    skip_without(probe.stderr)
    until_lossless(same_as_uncut)
    for test in by_size, compressed:
        with tempfile.TemporaryDirectory() as private:
            test(private)
