#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, plain
"""The change points of kymo store against scipy: the same search, written with scipy's t test. And how often it finds what is there, and what
is not."""
import os
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import TESTS, check

try:
    import numpy as np
    from scipy import stats
except ImportError:
    print("skipped: no python3-scipy")
    sys.exit(77)

LEAST, SEGMENT, ALARM, FLOOR = 20, 4, 0.001, 1e-6
CASES = int(os.environ.get("KYMO_CASES", "200"))


def test(values, start, at, end):
    """p of a cut for all places where it could be, and both means. scipy has no floor of the variance, so it gets means and deviations."""
    before, after = values[start:at], values[at:end]
    places = max(0, end - start - 2 * SEGMENT + 1)
    squares = before.var() * len(before) + after.var() * len(after)
    deviation = np.sqrt(squares / (end - start - 2) + FLOOR)
    p = stats.ttest_ind_from_stats(before.mean(), deviation, len(before), after.mean(), deviation, len(after)).pvalue
    return min(1, places * p), before.mean(), after.mean()


def holds(found, least):
    return found[0] <= ALARM and abs(found[2] - found[1]) > least


def cuts(values, start, end, least):
    if end - start < 2 * SEGMENT:
        return []
    at = min(range(start + SEGMENT, end - SEGMENT + 1), key=lambda at: test(values, start, at, end)[0])
    if not holds(test(values, start, at, end), least):
        return []
    return [*cuts(values, start, at, least), at, *cuts(values, at, end, least)]


def points(values, least):
    found = cuts(values, 0, len(values), least) if len(values) >= LEAST else []
    while True:
        edges = [0, *found, len(values)]
        tests = [test(values, edges[i], edges[i + 1], edges[i + 2]) for i in range(len(found))]
        weak = [i for i, one in enumerate(tests) if not holds(one, least)]
        if not weak:
            return [(at, *one) for at, one in zip(found, tests, strict=True)]
        del found[max(weak, key=lambda i: tests[i][0])]


def ask(series, least):
    text = "".join(f"{least} {len(one)} {' '.join(map(repr, map(float, one)))}\n" for one in series)
    done = subprocess.run([os.path.join(TESTS, "points_of")], input=text, capture_output=True, text=True, check=True).stdout
    for line in done.splitlines():
        numbers = list(map(float, line.split()[1:]))
        yield [(int(numbers[i]), numbers[i + 3], numbers[i + 1], numbers[i + 2]) for i in range(0, len(numbers), 4)]


def compare(chance):
    """Series with no, one or several levels, some of which hardly differ."""
    series = []
    for _ in range(CASES):
        length = int(chance.integers(15, 60))
        one = 13 + chance.normal(0, chance.choice([0, 0.01, 0.05]), length)
        for _ in range(int(chance.integers(0, 4))):
            one[int(chance.integers(0, length)):] += chance.normal(0, 0.15)
        series.append(one)
    found = 0
    for one, said in zip(series, ask(series, 0.05), strict=True):
        wanted = points(one, 0.05)
        check([point[0] for point in said] == [point[0] for point in wanted], "points", said, "not", wanted, list(one))
        check(all(np.allclose(got, want, rtol=1e-6, atol=1e-300) for got, want in zip(said, wanted, strict=True)), said, wanted)
        found += len(said)
    check(found > CASES / 2, found)
    print(f"{found} change points of {CASES} series as scipy has them")


def rates(chance):
    """40 commits whose values vary by 3 %: without a change none is found, and one of +10 % is found within two commits."""
    quiet = [chance.normal(0, 0.03, 40) for _ in range(1000)]
    alarms = sum(bool(said) for said in ask(quiet, 0.05))
    grown = []
    for _ in range(200):
        at = int(chance.integers(8, 33))
        grown.append((at, chance.normal(0, 0.03, 40) + np.where(np.arange(40) < at, 0, np.log(1.1))))
    hits = sum(any(abs(point[0] - at) <= 2 for point in said)
               for (at, _), said in zip(grown, ask([one for _, one in grown], 0.05), strict=True))
    check(alarms <= 3 and hits >= 180, "alarms", alarms, "hits", hits)
    print(f"{alarms} of 1000 series without a change have a point; {hits} of 200 changes of 10 % are found within two commits")


def main():
    compare(np.random.default_rng(3))
    rates(np.random.default_rng(4))


main()
