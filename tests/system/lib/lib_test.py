# SPDX-License-Identifier: Apache-2.0
"""What the tests in Python share: where things are, waiting, skipping, and running again what a busy machine spoiled."""
import contextlib
import csv
import os
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ.get("KYMO_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BUILD = os.environ.get("KYMO_BUILD") or os.path.join(SOURCE, "build")
# Traces and oracles: those beside the checkout, or the few of tests/fixtures/shared.
SHARED = os.environ.get("KYMO_SHARED") or os.path.join(SOURCE, "..", "shared")
if not os.path.isdir(os.path.join(SHARED, "data")):
    SHARED = os.path.join(BUILD, "tests", "shared")
KYMO = os.path.join(BUILD, "bin", "kymo")
TESTS = os.path.join(BUILD, "tests")       # the programs of tests/tools
ROBOT = os.path.join(BUILD, "robot", "robot")


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


def status(environment=None):
    """Return: what `kymo status` says of each process, by its name: {"driver": {"state": "record", "recorded": "500", ...}}."""
    told = subprocess.run([KYMO, "status", "--format", "csv"], stdout=subprocess.PIPE, text=True, check=False, env=environment).stdout
    rows = csv.DictReader(line for line in told.splitlines() if not line.startswith("#"))
    return {row["name"]: row for row in rows}


class Lost(Exception):
    """Events were lost in a run, which therefore proves nothing."""


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


def until(what, condition, seconds=60):
    """Wait for condition() to be true and return its value. The test fails after @seconds."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.01)


def lossless(lost, what="events"):
    """To be called by a run of until_lossless() as soon as it knows how many events were lost."""
    if lost:
        raise Lost(f"{lost} {what} were lost")


def until_lossless(run, tries=10):
    """Call run(directory), with a new directory each time, until no event was lost in it. Return its value.

    A machine that does something else lets rings run over now and then. Such a run can't be judged, so it is repeated, and the
    test fails if every run lost events: a test that asserts nothing must not pass."""
    for attempt in range(1, tries + 1):
        with tempfile.TemporaryDirectory() as private:
            try:
                return run(private)
            except Lost as lost:
                print(f"{getattr(run, '__name__', None) or run.func.__name__}, run {attempt} of {tries}: {lost}", flush=True)
    raise AssertionError(f"events were lost in each of {tries} runs")
