#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, kernel
"""Ground truth: the robot has faults of known kind and size, and `kymo why` names each as the cause, with its share of the latency.
bench/right/why_truth.py does it for many seeds. A machine with other work can delay something else for longer than a fault does: then the faults
that were not found have another try. A wrong answer ends the test, unless events were lost or programs had to wait for a CPU."""
import contextlib
import os
import re
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_events import traced, unless_hidden
from lib_held import Witness, judged
from lib_kernel import lossless_tasks, with_tracefs
from lib_test import ROBOT, Lost, in_directory, lossless, skip
from lib_faults import FAULTS, judge, record

TRIES = 8


def not_wrong(verdict, trace, said, waited_ns, kernel):
    """Fails if the answer is wrong, and nothing excuses that."""
    def right():
        assert verdict.result in ("right", "another"), verdict

    try:
        with unless_hidden(trace, traced(trace)) if kernel else contextlib.nullcontext():
            judged(right, waited_ns)
    except AssertionError:
        lossless(int(re.search(r"(\d+) dropped", said)[1]))
        lossless_tasks("of the kernel's events were lost" in said, said)
        raise


def once(directory, seed, faults, kernel):
    """Return: the faults that were named; whether the kernel's events were there."""
    with Witness() as witness:
        trace, truth, said = record(directory, faults, seed, kernel, 1.3 + 0.43 * len(faults))
    waited_ns = witness.longest([(fault["begin_ns"], fault["end_ns"]) for fault in truth.values()])
    kernel = kernel and "recording without them" not in said
    named = set()
    for fault in truth.values():
        if kernel or not FAULTS[fault["fault"]].needs_kernel:
            verdict = judge(trace, seed, fault, kernel)
            if not verdict:
                continue
            print(f"{verdict.fault}, seed {seed}: {verdict.result}, {verdict.share:.3f} of it, in truth {verdict.truth:.3f}: {verdict.said}")
            try:
                not_wrong(verdict, trace, said, waited_ns, kernel)
            except Lost as lost:
                print(f"{verdict.fault}: {lost}")
            if verdict.result == "right":
                named.add(fault["fault"])
    return named, kernel


def main(root):
    left, kernel = set(FAULTS), True
    for seed in range(1, TRIES + 1):
        with tempfile.TemporaryDirectory(dir=root) as directory:
            named, kernel = once(directory, seed, sorted(left), kernel)
        left -= named
        if not kernel:
            left = {fault for fault in left if not FAULTS[fault].needs_kernel}
        if not left:
            break
    assert not left, f"not named in {TRIES} runs: {sorted(left)}"
    if not kernel:
        skip("hog and lock need the kernel's events, which are not available")


if __name__ == "__main__":
    with_tracefs(__file__)
    if not os.path.exists(ROBOT):
        skip("the robot was not built: it needs CycloneDDS")
    in_directory(main)
