#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, plain
"""The intervals of one run a side. Twice: by the definition, with the same draws of blocks, to the last digit; and against scipy's bootstrap,
which draws by itself, so that its distribution has as much below and above kymo's bounds as it should."""
import functools
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

DRAWS, SHARE = 400, 0.05
QUANTILES = {"duration p2": 0.02, "duration p50": 0.50, "duration p90": 0.90, "duration p99": 0.99}
LIMITS = {"duration p2": 0.05, "duration p50": 0.10, "duration p90": 0.15, "duration p99": 0.20, "rate": 0.10}
LEAST_NS = 10000						# a time must grow by so much, too
CASES = int(os.environ.get("KYMO_CASES", "15"))


def one_run(chance, scale):
    """Blocks of unlike length and of unlike luck, now and then an empty one."""
    run = []
    for _ in range(int(chance.integers(8, 33))):
        count = 0 if chance.random() < 0.02 else int(chance.integers(1, 80))
        run.append(bucket(np.exp(np.log(scale) + chance.normal(0, 0.15) + chance.normal(0, 0.25, count)).astype(int)))
    return run


def bucket(ns):
    """The middle of its bucket, which is 1/512 of a power of two, so that the histogram keeps the value."""
    width = 2 ** np.maximum(np.floor(np.log2(np.maximum(ns, 1))).astype(int) - 9, 0)
    return ns // width * width + width // 2


@functools.lru_cache(maxsize=None)
def draws(bases, news):
    """How often each block was drawn: xorshift64* (Vigna 2016) of one seed, the base side first."""
    state, mask, sides = 0x9E3779B97F4A7C15, 2 ** 64 - 1, []
    for blocks in (bases, news):
        times = np.zeros((DRAWS, blocks), int)
        for row in times:
            for _ in range(blocks):
                state ^= state >> 12
                state ^= state << 25 & mask
                state ^= state >> 27
                row[((state * 2685821657736338717 & mask) >> 32) % blocks] += 1
        sides.append(times)
    return sides


def drawn(run, times, quantiles):
    """Of each draw: the logarithm of the quantiles of all values of its blocks, and of how many there are for each block."""
    found = np.full((len(times), len(quantiles) + 1), np.nan)
    for at, row in enumerate(times):
        values = np.concatenate(np.repeat(np.array([*run, None], object)[:-1], row))
        if len(values):
            found[at] = np.log([*np.quantile(values, quantiles, method="inverted_cdf"), len(values) / len(run)])
    return found


def limit(metric, base):
    least = 0 if metric == "rate" else LEAST_NS / base
    return max(np.log1p(LIMITS[metric]), np.log1p(least))


def by_definition(case, said):
    """Return: how many metrics were compared."""
    names, times = [*QUANTILES, "rate"], draws(*map(len, case))
    sides = [drawn(run, rows, list(QUANTILES.values())) for run, rows in zip(case, times)]
    real = [drawn(run, np.ones((1, len(run)), int), list(QUANTILES.values()))[0] for run in case]
    counts = [sum(map(len, run)) for run in case]
    check({"duration p50", "rate"} <= set(said) or min(counts) < 20, "metrics:", set(said), counts)
    check(("duration p99" in said) == (min(counts) >= 1000), "metrics:", set(said), counts)
    for metric, (estimate, low, high, suspect) in said.items():
        at, sign = names.index(metric), -1 if metric == "rate" else 1
        changes = np.sort(sign * (sides[1] - sides[0])[:, at])
        expected = sign * (real[1] - real[0])[at]
        bounds = min(changes[int(SHARE * DRAWS)], expected), max(changes[-1 - int(SHARE * DRAWS)], expected)
        check(np.allclose((estimate, low, high), (expected, *bounds), rtol=0, atol=1e-12), metric, (estimate, low, high), (expected, *bounds), case)
        check(bool(suspect) == (low > limit(metric, np.exp(real[0][at]))), "suspect:", metric, low, limit(metric, np.exp(real[0][at])))
    return len(said)


def by_scipy(case, said, seed):
    """The shares of scipy's changes of the median that are below the lower bound, and above the upper one."""
    def change(base, new):
        half = [np.median(np.concatenate([run[block] for block in rows])) for run, rows in zip(case, (base, new))]
        return np.log(half[1]) - np.log(half[0])

    found = stats.bootstrap([np.arange(len(run)) for run in case], change, n_resamples=1000, vectorized=False, method="percentile",
                            confidence_level=1 - 2 * SHARE, random_state=seed).bootstrap_distribution
    _, low, high, _ = said["duration p50"]
    return (found < low).mean() / 2 + (found <= low).mean() / 2, (found > high).mean() / 2 + (found >= high).mean() / 2


def main():
    chance = np.random.default_rng(3)
    cases = []
    for _ in range(CASES):
        scale = chance.uniform(100, 400) if chance.integers(2) else chance.uniform(20000, 200000)
        cases.append([one_run(chance, scale), one_run(chance, scale * chance.choice([1, 1.2, 2]))])
    text = "".join(f"{len(run)}\n" + "".join(" ".join(map(str, [len(block), *block])) + "\n" for block in run) for case in cases for run in case)
    answers = subprocess.run([os.path.join(TESTS, "blocks_of")], input=text, capture_output=True, text=True, check=True).stdout.split("\n\n")
    compared, shares = 0, []
    for case, answer in zip(cases, answers[:-1], strict=True):
        said = {name: tuple(map(float, numbers)) for name, *numbers in (line.split(",") for line in answer.splitlines())}
        compared += by_definition(case, said)
        if len(shares) < CASES / 5 and "duration p50" in said:
            shares.append(by_scipy(case, said, len(shares)))
    check(compared > 2 * CASES, "compared", compared)
    check(np.all(np.abs(np.array(shares) - SHARE) < 1.5 * SHARE) and np.all(abs(np.mean(shares, axis=0) - SHARE) < SHARE / 2), "scipy's:", shares)
    print(f"{compared} intervals of {CASES} comparisons by their definition; of scipy's changes, {100 * np.mean(shares, axis=0)[0]:.1f} % are below "
          f"the lower bounds of {len(shares)}, and {100 * np.mean(shares, axis=0)[1]:.1f} % above the upper ones")


main()
