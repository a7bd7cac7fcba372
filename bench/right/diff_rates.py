#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How often is kymo diff right? False alarms among comparisons of equal runs, and how often a slower callback is found.

usage: bench/right/diff_rates.py [--build DIR] [--runs DIR] [--groups N] [--seconds N] [--slow PERCENT,...] [--comparisons N]

Records N groups of runs of the robot in turn: a base run, and one run for each PERCENT with one callback so much slower; which comes first
changes from group to group. Runs that are in --runs already are taken from there. Each run becomes a summary. Then it draws comparisons of
6 pairs at random: of base runs alone, where nothing changed, and of base runs with slower ones. The same runs are judged by two usual
rules, too: all samples of both sides in one Mann-Whitney test (p < 0.05), means that differ by more than 10 %, and means of the runs that
differ by more than their standard deviations, as one reads the mean and deviation that hyperfine prints; each of all callbacks.
"""
import argparse
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

PAIRS = 6
NODE, TOPIC = "/perception/obstacle_detector", "/scan"
TARGET = f"{NODE} {TOPIC}"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", help="directory of the runs; those that are missing are recorded")
    parser.add_argument("--groups", type=int, default=40)
    parser.add_argument("--seconds", default="4")
    parser.add_argument("--slow", default="15,5")
    parser.add_argument("--comparisons", type=int, default=200)
    return parser.parse_args()


class Pool:
    """The runs of all sides: "base", "15", "5" ... Each is recorded once, and becomes a summary and samples."""

    def __init__(self, arguments, place):
        self.arguments, self.place = arguments, place
        self.kymo, self.known, self.loads = os.path.join(arguments.build, "bin/kymo"), {}, []
        self.sides = ["base", *arguments.slow.split(",")]
        for group in range(arguments.groups):
            turn = group % len(self.sides)
            for side in self.sides[turn:] + self.sides[:turn]:
                self.record(side, group)
            print(f"\r{group + 1} of {arguments.groups} groups recorded", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)

    def path(self, side, group, suffix=""):
        return os.path.join(self.place, side, f"{group:03}{suffix}")

    def record(self, side, group):
        path, summary = self.path(side, group), self.path(side, group, ".summary")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.isdir(path):
            robot = [os.path.join(self.arguments.build, "robot/robot"), "--seconds", self.arguments.seconds, "--domain", "79"]
            slow = [] if side == "base" else ["--slow", f"detector:{side}"]
            subprocess.run([self.kymo, "record", "-q", "-o", path, "--", *robot, *slow], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            self.loads.append(os.getloadavg()[0])
        if not os.path.exists(summary):
            subprocess.run([self.kymo, "report", path, "--format", "summary", "-o", summary], check=True)

    def samples(self, side, group):
        """The durations of each callback in a run."""
        if (side, group) not in self.known:
            rows = json.loads(subprocess.run(
                [self.kymo, "query", self.path(side, group), "--format", "json",
                 "SELECT c.label AS name, i.duration_ns AS ns FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id"],
                capture_output=True, text=True, check=True).stdout)
            callbacks = self.known[side, group] = {}
            for row in rows["rows"]:
                if row["ns"] is not None:
                    callbacks.setdefault(row["name"], []).append(row["ns"])
        return self.known[side, group]

    def all_samples(self, runs):
        all_of = {}
        for run in runs:
            for name, ns in self.samples(*run).items():
                all_of.setdefault(name, []).extend(ns)
        return {name: ns for name, ns in all_of.items() if len(ns) >= 20 * len(runs)}

    def compare(self, base, new):
        """What kymo diff says in JSON."""
        sides = [[self.path(*run, ".summary") for run in side] for side in (base, new)]
        done = subprocess.run([self.kymo, "diff", "--paired", "--format", "json", "--values", *sides[0], "--", *sides[1]],
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 5):
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)


def worse(answer):
    """The names of what kymo diff calls worse: callbacks, and of chains the part where the change is."""
    return {row["part"] or row["name"] for row in answer["metrics"] if row["verdict"] == "worse"}


LIMITS = {"p2": 0.05, "p50": 0.10, "p90": 0.15, "p99": 0.20, "lock waits": 0.20}


def closed_after(answer):
    """After how many pairs kymo bench --quick would have stopped: no metric can be worse any more. The definition, written once more:
    after all pairs, the third smallest mean of some of them must be above the limit, and no such mean may be 0 or less."""
    runs = {}
    for row in answer["values"]:
        runs.setdefault((row["kind"], row["name"], row["of"], row["metric"]), {"base": [], "new": []})[row["side"]].append(row["value"])
    least = {(row["kind"], row["name"], row["of"], row["metric"]): row for row in answer["metrics"]}
    for pairs in range(2, PAIRS):
        if not any(is_open(sides, key, least[key], pairs) for key, sides in runs.items()):
            return pairs
    return PAIRS


def is_open(sides, key, row, pairs):
    share = {"share": 0.001, "per_run": 0.05, "ns_per_run": 100}.get(row["unit"], 0)
    sign = -1 if key[3] == "rate" else 1
    differences = [sign * (math.log(max(new + share, 1e-9)) - math.log(max(base + share, 1e-9)))
                   for base, new in zip(sides["base"][:pairs], sides["new"][:pairs])]
    means = sorted(sum(some) / len(some) for count in range(1, pairs + 1) for some in itertools.combinations(differences, count))
    limit = math.log1p(LIMITS.get(key[3].split()[-1], LIMITS.get(key[3], 0.10)))
    return means[0] > 1e-12 and sum(mean <= limit + 1e-12 for mean in means) < 3


def cliff(base, new):
    """As a person reads hyperfine: the mean of each side's runs, and its standard deviation; worse by more than both together."""
    from statistics import mean, stdev
    found = set()
    for name in base[0].keys():
        sides = [[mean(run[name]) for run in side if name in run] for side in (base, new)]
        if all(len(side) == PAIRS for side in sides) and mean(sides[1]) - mean(sides[0]) > stdev(sides[0]) + stdev(sides[1]):
            found.add(name)
    return found


def pooled(base, new):
    from scipy.stats import mannwhitneyu
    return {name for name in base.keys() & new.keys() if mannwhitneyu(new[name], base[name], alternative="greater").pvalue < 0.05}


def tenth(base, new):
    return {name for name in base.keys() & new.keys() if sum(new[name]) / len(new[name]) > 1.1 * sum(base[name]) / len(base[name])}


def draw(pool, side, chance):
    """6 pairs of runs. Equal ones are 12 base runs in the order of their recording; neighbours are a pair, and chance says which is new."""
    groups = range(pool.arguments.groups)
    if side != "base":
        at = sorted(chance.sample(groups, PAIRS))
        return [("base", i) for i in at], [(side, i) for i in at]
    at = sorted(chance.sample(groups, 2 * PAIRS))
    pairs = [chance.sample(at[i:i + 2], 2) for i in range(0, 2 * PAIRS, 2)]
    return [("base", pair[0]) for pair in pairs], [("base", pair[1]) for pair in pairs]


def follows(name):
    """What has to do with the slower callback: its messages come and leave later."""
    return NODE in name or TOPIC in name or name == "/obstacles"


def main():
    arguments = read_arguments()
    with tempfile.TemporaryDirectory() as scratch:
        pool, chance = Pool(arguments, arguments.runs or scratch), random.Random(1)
        if pool.loads:
            print(f"load while recording: {min(pool.loads):.0f} to {max(pool.loads):.0f}, {os.cpu_count()} CPUs")
        for side in pool.sides:
            counts = {rule: [0, 0, 0] for rule in ("kymo diff", "pooled Mann-Whitney", "means +10 %", "mean +- deviation of 6")}
            quick, changed = [], 0
            for _ in range(arguments.comparisons):
                base, new = draw(pool, side, chance)
                sides = pool.all_samples(base), pool.all_samples(new)
                answer = pool.compare(base, new)
                quick.append(closed_after(answer))
                changed += quick[-1] < PAIRS and bool(worse(answer))
                runs = [[pool.samples(*run) for run in side] for side in (base, new)]
                for rule, names in (("kymo diff", worse(answer)), ("pooled Mann-Whitney", pooled(*sides)),
                                    ("means +10 %", tenth(*sides)), ("mean +- deviation of 6", cliff(*runs))):
                    counts[rule][0] += bool(names)
                    counts[rule][1] += TARGET in names
                    counts[rule][2] += not all(map(follows, names))
            title = "equal runs" if side == "base" else f"one callback +{side} %"
            print(f"{title}, {arguments.comparisons} comparisons of {PAIRS} pairs out of {arguments.groups}:")
            for rule, (any_worse, found, others) in counts.items():
                print(f"  {rule:22}  anything worse {any_worse:4}   the slower callback {found:4}   anything else {others:4}", flush=True)
            print(f"  kymo bench --quick would have recorded {sum(quick) / len(quick):.1f} pairs instead of {PAIRS}, and changed {changed} of"
                  " these answers", flush=True)


main()
