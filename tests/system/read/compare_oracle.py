#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, plain
"""The statistics of kymo diff against scipy: p of the exact permutation test, both bounds of its inversion, and p of all metrics together. The bounds
of quantiles of kymo check against scipy's binomial distribution."""
import itertools
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

ERROR, FLOOR, WITHIN = 0.05, 0.005, 1 / 9
CASES = int(os.environ.get("KYMO_CASES", "100"))


def cases(chance):
    """Small designs, most metrics without a change, some with one."""
    for _ in range(CASES):
        paired, bases = bool(chance.integers(2)), int(chance.integers(2, 8))
        news = bases if paired else int(chance.integers(2, 6))
        metrics = int(chance.integers(1, 5))
        value = chance.normal(0, 0.05, (metrics, bases + news))
        grown = chance.random((metrics, 1)) < 0.4
        yield paired, bases, news, value + grown * np.r_[np.zeros(bases), np.full(news, chance.normal(0, 0.1))]


def permutation_p(base, new, paired, side):
    def difference(x, y, axis=-1):
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)
    return stats.permutation_test((new, base), difference, permutation_type="samples" if paired else "independent",
                                  alternative=side, n_resamples=np.inf, vectorized=True).pvalue


def check_bound(base, new, paired, bound, side):
    """Just beyond the bound the shifted test says no, just inside it does not."""
    for step in (-1e-7, 1e-7):
        outside = step < 0 if side == "greater" else step > 0
        p = permutation_p(base, new - (bound + step), paired, side)
        check((p <= ERROR + 1e-12) == outside, "bound", side, bound, step, "has p", p, base, new)


def statistic(value, bases, paired, row):
    """Of one rearrangement: row says which pairs are turned round, or which runs are new."""
    if paired:
        difference = np.where(row, -1, 1) * (value[bases:] - value[:bases])
        sides = [np.where(row, one, other) for one, other in ((value[bases:], value[:bases]), (value[:bases], value[bases:]))]
        within = sum(side.var(ddof=1) for side in sides)
        return difference.mean() / (np.sqrt((difference.var(ddof=1) + WITHIN * within) / bases) + FLOOR)
    new, base = value[row], value[~row]
    squares = ((new - new.mean()) ** 2).sum() + ((base - base.mean()) ** 2).sum()
    error = np.sqrt(squares / (len(value) - 2) * (1 / len(new) + 1 / len(base)))
    return (new.mean() - base.mean()) / (error + FLOOR)


def together(paired, bases, news, value):
    """Step-down maxT of both directions in one order, by its definition: q up and q down of each metric."""
    if paired:
        rows = [np.array(row, bool) for row in itertools.product((0, 1), repeat=bases)]
        real = np.zeros(bases, bool)
    else:
        rows = [np.isin(np.arange(bases + news), chosen) for chosen in itertools.combinations(range(bases + news), news)]
        real = np.arange(bases + news) >= bases
    observed = np.array([statistic(one, bases, paired, real) for one in value])
    all_ways = np.array([[statistic(one, bases, paired, row) for one in value] for row in rows])
    order, least, q = np.argsort(-abs(observed), kind="stable"), 0, np.zeros((len(value), 2))
    for at, metric in enumerate(order):
        lesser = all_ways[:, order[at:]]
        beaten = np.mean(lesser.max(axis=1) >= observed[metric] - 1e-12), np.mean(lesser.min(axis=1) <= observed[metric] + 1e-12)
        q[metric] = np.maximum(beaten, least)
        least = q[metric].min()
    return q


def bounds(chance):
    """The upper bound is the smallest rank k with P(Binomial(n, q) <= k - 1) >= confidence; the lower one is its mirror image."""
    asked = [(int(10 ** chance.uniform(0, 7)), round(chance.uniform(0.001, 0.999), 4), round(chance.uniform(0.5, 0.9999), 4))
             for _ in range(20 * CASES)]
    text = "".join(f"{n} {q!r} {confidence!r}\n" for n, q, confidence in asked)
    answers = subprocess.run([os.path.join(TESTS, "bound_of")], input=text, capture_output=True, text=True, check=True).stdout
    for (n, q, confidence), answer in zip(asked, answers.splitlines(), strict=True):
        upper, lower, least = map(int, answer.split())
        rank = int(stats.binom.ppf(confidence, n, q)) + 1
        check(upper == (rank if rank <= n else 0), "upper bound", upper, "not", rank, n, q, confidence)
        rank = int(stats.binom.ppf(confidence, n, 1 - q)) + 1
        check(lower == (n + 1 - rank if rank <= n else 0), "lower bound", lower, n, q, confidence)
        check(1 - q ** least >= confidence - 1e-9 and (least < 2 or 1 - q ** (least - 1) < confidence + 1e-9), "least", least, q, confidence)
    print(f"{len(asked)} bounds of quantiles as scipy has them")


def main():
    bounds(np.random.default_rng(2))
    asked = list(cases(np.random.default_rng(1)))
    text = "".join(f"{int(paired)} {bases} {news} {len(value)}\n" + "\n".join(" ".join(map(repr, map(float, row))) for row in value) + "\n"
                   for paired, bases, news, value in asked)
    answers = iter(subprocess.run([os.path.join(TESTS, "change_judge")], input=text, capture_output=True, text=True,
                                  check=True).stdout.splitlines())
    compared = 0
    for paired, bases, news, value in asked:
        said = [list(map(float, next(answers).split())) for _ in value]
        for (_, low, high, p_up, *_), row in zip(said, value):
            base, new = row[:bases], row[bases:]
            p = permutation_p(base, new, paired, "greater")
            check(abs(p - p_up) < 1e-9, "p", p, "not", p_up, paired, base, new)
            for bound, side in ((low, "greater"), (high, "less")):
                if np.isfinite(bound):
                    check_bound(base, new, paired, bound, side)
            compared += 1
        q = together(paired, bases, news, value)
        check(np.allclose(q, [row[5:7] for row in said], atol=1e-9), "q", q, said)
    check(compared > CASES and next(answers, None) is None, "compared", compared)
    print(f"{compared} metrics of {CASES} comparisons as scipy has them")


main()
