#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, shared
"""Every SQL question of docs/answers/perfetto.md has an answer."""
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_reader
from lib_test import SHARED, SOURCE, kymo, skip

TRACE = os.path.join(SHARED, "data", "ros2-traces", "pair_basic_st", "ctf")


def main(check, reader, scratch):
    if not os.path.isdir(TRACE):
        skip("no traces in ../shared")
    with open(os.path.join(SOURCE, "docs", "answers", "perfetto.md")) as text:
        questions = re.findall(r"\n([^\n]*):\n\n```sql\n(.*?)```", text.read(), re.S)
    check.ok("there are questions", len(questions) > 4)
    out = os.path.join(scratch, "out.pftrace")
    kymo("export", "-q", "--executors", TRACE, "-o", out)
    for (title, _), rows in zip(questions, reader.query(out, *(sql for _, sql in questions))):
        check.ok(title, len(rows) > 0)
        print(f"  # {rows[0] if rows else ''}")


with_reader(main)
