#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""The pandas examples of docs/answers/query.md run, and pandas gets the numbers that SQL gives."""
import os
import re
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SOURCE, kymo, query, skip

try:
    import pandas
except ImportError:
    skip("pandas is not here")

TRACE = os.path.abspath(os.path.join(SOURCE, "tests", "fixtures", "lifecycle"))
os.environ["PATH"] = os.path.dirname(KYMO) + ":" + os.environ["PATH"]


def main():
    with open(os.path.join(SOURCE, "docs", "answers", "query.md"), encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    assert len(blocks) == 2, blocks
    rows = query(TRACE, "SELECT callback, count(*) AS n, avg(duration_ns) AS mean, stddev(duration_ns) AS std,"
                 " percentile(duration_ns, 75) AS p75, max(duration_ns) AS max FROM callback_instances GROUP BY callback")
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        kymo("export", "-q", TRACE, "--format", "sqlite", "-o", "robot.sqlite")
        seen = {}
        exec(blocks[0], seen)
        numbers = seen["runs"].groupby("callback").duration_ns.describe()
        assert len(rows) > 3 and len(numbers) == len(rows), numbers
        for row in rows:
            theirs = numbers.loc[row["callback"]]
            assert theirs["count"] == row["n"] and theirs["max"] == row["max"], (row, theirs)
            for ours, name in ((row["mean"], "mean"), (row["p75"], "75%"), (row["std"], "std")):
                assert (ours is None and pandas.isna(theirs[name])) or \
                    abs(ours - theirs[name]) <= 1e-9 * abs(ours), (row, theirs)
        exec(blocks[1].replace("TRACE", TRACE), {})
        os.chdir("/")


main()
