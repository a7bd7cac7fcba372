# SPDX-License-Identifier: Apache-2.0
"""What the tests in Python share: where things are, running commands, checks that go on, waiting, skipping, and running again what a
busy machine spoiled."""
import atexit
import contextlib
import csv
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

SOURCE = os.environ.get("KYMO_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BUILD = os.environ.get("KYMO_BUILD") or os.path.join(SOURCE, "build")
# Traces and oracles: those beside the checkout, or the few of tests/fixtures/shared.
SHARED = os.environ.get("KYMO_SHARED") or os.path.join(SOURCE, "..", "shared")
if not os.path.isdir(os.path.join(SHARED, "data")):
    SHARED = os.path.join(BUILD, "tests", "shared")
KYMO = os.path.join(BUILD, "bin", "kymo")
TESTS = os.path.join(BUILD, "tests")       # the programs of tests/tools
ROBOT = os.path.join(BUILD, "robot", "robot")
os.environ["KYMO_PAGER"] = ""              # nobody types q
failures = []


def sanitized():
    """Return: whether the build has a sanitizer, which makes all slower and has threads of its own."""
    return bool(sanitizer())


def sanitizer():
    """Return: the sanitizer of the build, "address" or "thread"; "": none."""
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        return next((line.partition("=")[2].partition(",")[0].strip() for line in cache if line.startswith("KYMO_SANITIZE:")), "")


def fewer(items, step=3):
    """Return: each @step-th of @items where the build has a sanitizer, else all of them. For traces whose numbers are compared: the
    numbers are the same with a sanitizer, which looks at how memory is used."""
    return items[::step] if sanitized() else items


def check(condition, *text):
    """Note a failure and go on. Return: the condition. A test that noted something fails when it ends."""
    if not condition:
        failures.append(" ".join(map(str, text)))
    return condition


@atexit.register
def fail_if_noted():
    for failure in failures[:40]:
        print("FAILED:", failure[:5000])
    if failures:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


def run(*command, status=0, **options):
    """Run a command to its end, with its output as text. @status: what it has to exit with; a tuple: one of these; None: anything."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    assert status is None or done.returncode in (status if isinstance(status, tuple) else (status,)), (status, done)
    return done


def kymo(*words, **options):
    """Return: what a kymo command prints. Options: those of run()."""
    return run(KYMO, *words, **options).stdout


def answer(verb, *words, **options):
    """Return: what a verb answers, from JSON."""
    return json.loads(kymo(verb, *words, "--format", "json", **options))


def callback_name(row):
    """Return: what findings and pages call the callback of a row of the report's section callbacks."""
    return f"{row['node']} {'timer ' if row['kind'] == 'timer' else ''}{row['source']}"


def report(trace, *sections, **options):
    """Return: these sections of the report, or the usual ones."""
    return answer("report", trace, *(word for section in sections for word in ("--section", section)), **options)


def query(trace, sql, *words):
    return answer("query", trace, sql, *words)["rows"]


def private(directory, **more):
    """Return: an environment with a KYMO_DIR of its own in @directory, and variables more."""
    return dict(os.environ, KYMO_DIR=os.path.join(directory, "run"), **more)


def record(trace, *words, **options):
    """Record a trace with a KYMO_DIR beside it. @words: options, and the command after "--"."""
    return run(KYMO, "record", "-o", trace, *words, **{"env": private(os.path.dirname(trace)), **options})


def compiled(directory, text, *flags):
    """Return: the program of a C source that uses libkymo."""
    source, program, libraries = os.path.join(directory, "program.c"), os.path.join(directory, "program"), os.path.join(BUILD, "lib")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    run(os.environ.get("CC", "cc"), "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program, source,
        "-I" + os.path.join(SOURCE, "include"), "-L" + libraries, "-lkymo", "-Wl,-rpath," + libraries, *flags)
    return program


def accounts(trace):
    """Return: the kymo.json of a trace."""
    with open(os.path.join(trace, "kymo.json"), encoding="utf-8") as file:
        return json.load(file)


def robot(seconds, *options):
    """Return: the words of a command that runs the robot in a DDS domain of its own."""
    return [ROBOT, "--seconds", str(seconds), "--domain", str(ros_domain()), *options]


def record_robot(trace, seconds, *options):
    """Record the robot with rings that a busy machine does not fill."""
    return record(trace, *options, "--", *robot(seconds), env=private(os.path.dirname(trace), KYMO_RING_SIZE="2M"))


def in_directory(test, place=None):
    """Call test(directory) with a directory, below @place, that vanishes afterwards."""
    with tempfile.TemporaryDirectory(prefix="kymo-test.", dir=place) as directory:
        test(directory)


_domains = {}


def _reserved(number):
    """Return: a socket whose name says that @number is in use; None: it is already. Like a ROS domain, the name is known in this
    network namespace only, and it is gone when the test ends, however."""
    one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        one.bind(f"\0kymo-test-ros-domain-{number}")
    except OSError:
        one.close()
        return None
    return one


def ros_domain(count=1):
    """Return: a ROS domain, the first of @count, which no other test of this machine is in: their programs would hear each other.
    42 is the robot's own, and from 102 on, ports are among those that the kernel gives away."""
    for first in [] if count in _domains else range(43, 102 - count):
        sockets = [_reserved(first + i) for i in range(count)]
        if all(sockets):
            _domains[count] = first, sockets
            break
        for one in filter(None, sockets):
            one.close()
    assert count in _domains, "all ROS domains for tests are in use"
    return _domains[count][0]


@contextlib.contextmanager
def running(*command, **options):
    """A process for the length of a `with`. It is killed at the end if it still runs, so that a test that fails ends."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in process.stdin, process.stdout, process.stderr:
            if stream:
                stream.close()


def stop(*pids):
    """SIGSTOP; return when each thread stands still: the signal reaches one thread of a process, and that one stops the others."""
    def states(pid):
        for thread in glob.glob(f"/proc/{pid}/task/*/stat"):
            with open(thread, encoding="utf-8", errors="replace") as stat:
                yield stat.read().rpartition(")")[2].split()[0]

    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    until("processes that stand still", lambda: all(set(states(pid)) == {"T"} for pid in pids))


def status(environment=None):
    """Return: what `kymo status` says of each process, by its name: {"driver": {"state": "record", "recorded": "500", ...}}."""
    told = subprocess.run([KYMO, "status", "--format", "csv"], stdout=subprocess.PIPE, text=True, check=False, env=environment).stdout
    rows = csv.DictReader(line for line in told.splitlines() if not line.startswith("#"))
    return {row["name"]: row for row in rows}


class Lost(Exception):
    """A run proves nothing: events were lost in it, or the machine was measurably busy with something else."""


def skip(reason):
    """End the test as skipped. test.sh adds up the reasons."""
    print(f"skipped: {reason}")
    sys.exit(77)


def existing(*paths):
    """Return: those of the traces in SHARED that exist. Without the others the test proves less, which test.sh reports."""
    for path in paths:
        if not os.path.exists(path):
            print(f"skipped in part: {os.path.relpath(path, SHARED)} exists in ../shared only")
    return [path for path in paths if os.path.exists(path)]


def waited(condition, seconds=300, least=0.01):
    """Return: the value of condition() once it is true, or what it is after @seconds. A condition that takes long, as one that
    runs a program does, is asked less often: the CPUs are for what is waited for."""
    end = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        value = condition()
        now = time.monotonic()
        if value or now > end:
            return value
        time.sleep(min(max(least, 2 * (now - began)), 0.2))


def until(what, condition, seconds=300):
    """Wait for condition() to be true and return its value. The test fails after @seconds."""
    value = waited(condition, seconds)
    assert value, f"waited {seconds} s for {what}"
    return value


def lossless(lost, what="events"):
    """To be called by a run of until_lossless() as soon as it knows how many events were lost."""
    if lost:
        raise Lost(f"{lost} {what} were lost")


def until_lossless(run, tries=10):
    """Call run(directory), with a new directory each time, until no event was lost in it. Return its value.

    A machine that does something else lets rings run over now and then. Such a run can't be judged, so it is repeated, and the
    test fails if every run lost events: a test that asserts nothing must not pass. An assertion that fails ends the test at once."""
    for attempt in range(1, tries + 1):
        with tempfile.TemporaryDirectory() as private:
            try:
                return run(private)
            except Lost as lost:
                why = str(lost)
                print(f"{getattr(run, '__name__', None) or run.func.__name__}, run {attempt} of {tries}: {lost}", flush=True)
    raise AssertionError(f"none of {tries} runs can be judged; the last: {why}")


def another_trace(source, path):
    """A copy of a trace of CTF 1.8 that is another trace: with UUIDs of its own."""
    shutil.copytree(source, path)
    for place in (place for place, _, files in os.walk(path) if "metadata" in files):
        with open(os.path.join(place, "metadata"), "rb") as file:
            before = uuid.UUID(re.search(rb'uuid = "([0-9a-f-]{36})"', file.read())[1].decode())
        after = uuid.uuid4()
        for name in (entry.path for entry in os.scandir(place) if entry.is_file()):
            with open(name, "rb") as file:
                data = file.read()
            data = data.replace(before.bytes, after.bytes)
            if os.path.basename(name) == "metadata":
                data = data.replace(str(before).encode(), str(after).encode(), 1)
            with open(name, "wb") as file:
                file.write(data)
