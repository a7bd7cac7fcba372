#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does `kymo why` name the cause? Each fault of examples/robot, in a recording of its own for each seed: how often the instance that
it delayed the most has it as its first cause, with a share of the latency within 5 % of the truth's.

    right     named, with the right share
    share     named, with another share
    wrong     something else is named
    another   something else is named, which took longer than the fault: other work on this machine

usage: why_truth.py [SEEDS [FAULT...]]     with KYMO_BUILD; default: 20 seeds, all faults"""
import collections
import os
import sys
import tempfile

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("KYMO_BUILD", os.path.join(BENCH, "..", "build"))
sys.path.insert(0, os.path.join(BENCH, "..", "tests", "system", "lib"))
from lib_faults import FAULTS, judge, record  # noqa: E402

RESULTS = ("right", "share", "wrong", "another", "none")
SECONDS = 3.0


def one(fault, seed, kernel):
    for _ in range(3):
        with tempfile.TemporaryDirectory() as directory:
            trace, truth, said = record(directory, [fault], seed, kernel, SECONDS)
            kernel = kernel and "recording without them" not in said
            if FAULTS[fault].needs_kernel and not kernel:
                return None
            verdict = judge(trace, seed, truth[fault], kernel) if fault in truth else None
            if verdict:     # else the robot had no time to get there
                return verdict
    return None


def row(fault, kernel, seeds):
    verdicts = [one(fault, seed, kernel) for seed in range(1, seeds + 1)]
    count = collections.Counter(v.result if v else "none" for v in verdicts)
    off = sorted(abs(v.share - v.truth) for v in verdicts if v and v.result in ("right", "share"))
    first = sum(v.rank == 1 for v in verdicts if v)
    print(f"{fault:6} {'yes' if kernel else 'no':6} " + " ".join(f"{count[r]:7}" for r in RESULTS) + f" {first:6}   " +
          (f"{100 * off[-1]:6.2f} %" if off else ""), flush=True)
    for v in verdicts:
        if v and v.result != "right":
            print(f"       {fault}, seed {v.seed}: {v.result}, {v.share:.3f}, in truth {v.truth:.3f}: {v.said}", file=sys.stderr)


def main(seeds, faults):
    print("fault  kernel " + " ".join(f"{r:>7}" for r in RESULTS) + "  worst   share off by at most")
    for fault in faults:
        row(fault, True, seeds)
        if not FAULTS[fault].needs_kernel:
            row(fault, False, seeds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2:] or list(FAULTS))
