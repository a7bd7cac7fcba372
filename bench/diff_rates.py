#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How often is kymo diff right? False alarms among comparisons of equal runs, and how often a slower callback is found.

usage: bench/diff_rates.py [--build DIR] [--runs DIR] [--pairs N] [--seconds N] [--slow PERCENT] [--comparisons N]

Records N pairs of runs of the robot in turn, the second of each with one slower callback (or takes those that are in --runs). Then it
draws comparisons of 6 pairs at random: of base runs alone, where nothing changed, and of pairs. The same runs are judged by two usual
rules, too: all samples of both sides in one Mann-Whitney test (p < 0.05), and means that differ by more than 10 %; each of all callbacks.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

PAIRS = 6
TARGET = "/perception/obstacle_detector /scan"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", help="directory of the runs; recorded if it is empty")
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--seconds", default="4")
    parser.add_argument("--slow", default="15")
    parser.add_argument("--comparisons", type=int, default=200)
    return parser.parse_args()


def record(arguments, place):
    """Base and new in turn; which comes first changes from pair to pair."""
    for i in range(arguments.pairs):
        for side in ("base", "new") if i % 2 else ("new", "base"):
            path = os.path.join(place, side, f"{i:03}")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            robot = [os.path.join(arguments.build, "robot/robot"), "--seconds", arguments.seconds, "--domain", "79"]
            slow = ["--slow", f"detector:{arguments.slow}"] if side == "new" else []
            subprocess.run([os.path.join(arguments.build, "bin/kymo"), "record", "-q", "-o", path, "--", *robot, *slow], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            print(f"\r{i + 1} of {arguments.pairs} pairs recorded", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def worse(arguments, base, new):
    """The names of what kymo diff calls worse."""
    done = subprocess.run([os.path.join(arguments.build, "bin/kymo"), "diff", "--paired", "--format", "json", *base, "--", *new],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5):
        raise RuntimeError(done.stderr)
    return {row["name"] for row in json.loads(done.stdout)["metrics"] if row["verdict"] == "worse"}


class Samples:
    """The durations of each callback in each run."""

    def __init__(self, arguments):
        self.kymo = os.path.join(arguments.build, "bin/kymo")
        self.known = {}

    def of(self, run):
        if run not in self.known:
            rows = json.loads(subprocess.run(
                [self.kymo, "query", run, "--format", "json",
                 "SELECT c.label AS name, i.duration_ns AS ns FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id"],
                capture_output=True, text=True, check=True).stdout)
            callbacks = self.known[run] = {}
            for row in rows["rows"]:
                if row["ns"] is not None:
                    callbacks.setdefault(row["name"], []).append(row["ns"])
        return self.known[run]

    def side(self, runs):
        all_of = {}
        for run in runs:
            for name, ns in self.of(run).items():
                all_of.setdefault(name, []).extend(ns)
        return {name: ns for name, ns in all_of.items() if len(ns) >= 20 * len(runs)}


def pooled(base, new):
    from scipy.stats import mannwhitneyu
    return {name for name in base.keys() & new.keys() if mannwhitneyu(new[name], base[name], alternative="greater").pvalue < 0.05}


def tenth(base, new):
    return {name for name in base.keys() & new.keys() if sum(new[name]) / len(new[name]) > 1.1 * sum(base[name]) / len(base[name])}


def draw_equal(runs, chance):
    """12 base runs, in the order in which they were recorded; neighbours are a pair, and chance says which one is new."""
    chosen = sorted(chance.sample(runs["base"], 2 * PAIRS))
    pairs = [chance.sample(chosen[i:i + 2], 2) for i in range(0, 2 * PAIRS, 2)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def draw_slower(runs, chance):
    at = sorted(chance.sample(range(len(runs["base"])), PAIRS))
    return [runs["base"][i] for i in at], [runs["new"][i] for i in at]


def main():
    arguments = read_arguments()
    with tempfile.TemporaryDirectory() as scratch:
        place = arguments.runs or scratch
        if not os.path.isdir(os.path.join(place, "base")):
            record(arguments, place)
        runs = {side: sorted(os.path.join(place, side, name) for name in os.listdir(os.path.join(place, side))) for side in ("base", "new")}
        samples, chance = Samples(arguments), random.Random(1)
        for title, draw in (("equal runs", draw_equal), (f"one callback +{arguments.slow} %", draw_slower)):
            counts = {"kymo diff": [0, 0, 0], "pooled Mann-Whitney": [0, 0, 0], "means +10 %": [0, 0, 0]}
            for _ in range(arguments.comparisons):
                base, new = draw(runs, chance)
                sides = samples.side(base), samples.side(new)
                for rule, names in (("kymo diff", worse(arguments, base, new)), ("pooled Mann-Whitney", pooled(*sides)),
                                    ("means +10 %", tenth(*sides))):
                    hit = TARGET in names
                    counts[rule][0] += bool(names)
                    counts[rule][1] += hit
                    counts[rule][2] += any(TARGET.split()[0] not in name and TARGET.split()[1] not in name for name in names)
            print(f"{title}, {arguments.comparisons} comparisons of {PAIRS} pairs out of {len(runs['base'])}:")
            for rule, (any_worse, found, others) in counts.items():
                print(f"  {rule:20}  anything worse {any_worse:4}   the slower callback {found:4}   anything else {others:4}", flush=True)


main()
