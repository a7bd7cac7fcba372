#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How long does kymo diff take for 100 runs of 10 million events, as summaries, with 1,000 metrics?

usage: bench/read/diff_scale.py [--build DIR] [--runs N] [--metrics N]
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/system/lib"))
from lib_summary import write_summary


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--metrics", type=int, default=1000)
    arguments = parser.parse_args()
    spans, chance = arguments.metrics // 4, random.Random(1)		# p2, p50, p90 and p99 of each
    instances = 10_000_000 // 2 // spans					# begin and end
    with tempfile.TemporaryDirectory() as place:
        for side in ("base", "new"):
            os.mkdir(os.path.join(place, side))
            for run in range(arguments.runs // 2):
                write_summary(os.path.join(place, side, f"{run:03}.summary"),
                              {f"robot:step_{i}": int(1e5 * chance.uniform(1, 1.1)) for i in range(spans)}, instances, events=10_000_000)
        size = os.path.getsize(os.path.join(place, "base/000.summary"))
        for _ in range(3):
            before, begin = os.times(), time.monotonic()
            subprocess.run([os.path.join(arguments.build, "bin/kymo"), "diff", "--format", "json", os.path.join(place, "base"),
                            os.path.join(place, "new")], stdout=subprocess.DEVNULL, check=True)
            after = os.times()
            print(f"{arguments.runs} summaries of {size} bytes, {4 * spans} metrics: {time.monotonic() - begin:.2f} s, "
                  f"{after.children_user + after.children_system - before.children_user - before.children_system:.2f} s of CPU")


main()
