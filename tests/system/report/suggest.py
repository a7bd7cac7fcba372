#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo flow --suggest: a node that keeps a message until its timer fires is suggested as a link, with the numbers of what the program
did; no other answer has that link; where nothing suggests one, flow says so. What times suggest and what not: unit/analysis_suggest."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, answer, check, in_directory, kymo, record, run

RUNS = 90


def main(work):
    trace = f"{work}/trace"
    said = record(trace, "-q", "--", f"{BUILD}/tests/keeper", str(RUNS)).stdout.split()
    published = int(said[said.index("published") + 1])
    rows = answer("flow", "--suggest", trace)["suggestions"]
    check(len(rows) == 1, rows)
    row = rows[0]
    check((row["node"], row["keeps"], row["publishes"], row["how"]) == ("/keeper", "/scan", "/map", "gate"), row)
    # Its first publication makes it a callback that publishes: counting begins with the run after it.
    check(row["with_new"] == row["with_new_published"] and published - 2 <= row["with_new"] <= published, row, published)
    check(row["without_new_published"] == 0 and RUNS - published - 2 <= row["without_new"] <= RUNS - published, row)
    text = " ".join(kymo("flow", "--suggest", trace).split())
    check("in 0 of" in text and "no verb uses it" in text, text)
    check("Chains: 0" in kymo("flow", trace, status=6), "a guess became a link")
    text = " ".join(kymo("flow", "--suggest", "--node", "/other", trace, status=6).split())
    check("suggests a link that --node, --topic and --process select" in text, text)
    done = run(KYMO, "flow", "--suggest", "--latest", trace, status=2)
    check("goes without" in done.stderr, done)


in_directory(main)
