#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, kernel
"""Ground truth: the robot has faults of known kind and size, and `kymo why` names each as the cause, with its share of the latency.
bench/why_truth.py does it for many seeds. A machine with other work can delay something else for longer than a fault does: then the faults
that were not found have another try."""
import os
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_kernel import with_tracefs
from lib_test import ROBOT, in_directory, skip
from lib_faults import FAULTS, judge, record

TRIES = 8


def once(directory, seed, faults, kernel):
    """Return: the faults that were named; whether the kernel's events were there."""
    trace, truth, said = record(directory, faults, seed, kernel, 1.3 + 0.43 * len(faults))
    kernel = kernel and "recording without them" not in said
    named = set()
    for fault in truth.values():
        if kernel or not FAULTS[fault["fault"]].needs_kernel:
            verdict = judge(trace, seed, fault, kernel)
            if not verdict:
                continue
            print(f"{verdict.fault}, seed {seed}: {verdict.result}, {verdict.share:.3f} of it, in truth {verdict.truth:.3f}: {verdict.said}")
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
