#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""docs/answers/query.md: its tables are those of the program, and its examples run.

usage: query_docs.py [--write]   with --write the tables are written into the page
"""
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SOURCE, answer, check, run

PAGE = os.path.join(SOURCE, "docs", "answers", "query.md")
TRACE = os.path.join(SOURCE, "tests", "fixtures", "lifecycle")
MARK = "<!-- made by tests/system/read/query_docs.py --write -->\n"


def tables():
    schema = answer("query", "--schema")
    text = ""
    for table in schema["tables"]:
        text += f"\n### {table['table']}\n\n{table['text']}\n\n| column | type | unit | |\n|---|---|---|---|\n"
        for column in schema["columns"]:
            if column["table"] == table["table"]:
                unit = column["unit"] or ""
                text += f"| {column['column']} | {column['type']} | {unit} | {column['text']} |\n"
    return re.sub(r"  +\|", " |", text)


def examples(page):
    blocks = re.findall(r"```sql\n(.*?)```", page, re.S)
    for block in blocks:
        done = run(KYMO, "query", TRACE, block, status=None)
        check(not done.returncode and not done.stderr, block, done.stderr)
    check(len(blocks) >= 7, "only", len(blocks), "examples")


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    head, mark, made = page.partition(MARK)
    if sys.argv[1:] == ["--write"]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(head + MARK + tables())
        return
    check(mark and made == tables(), "the tables of docs/answers/query.md are not those of the program: run "
          "KYMO_BUILD=... tests/system/read/query_docs.py --write")
    examples(page)


main()
