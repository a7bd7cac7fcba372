#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""docs/query.md: its tables are those of the program, and its examples run.

usage: query_docs.py [--write]   with --write the tables are written into the page
"""
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SOURCE

PAGE = os.path.join(SOURCE, "docs", "query.md")
TRACE = os.path.join(SOURCE, "tests", "fixtures", "lifecycle")
MARK = "<!-- made by tests/system/read/query_docs.py --write -->\n"


def tables():
    done = subprocess.run([KYMO, "query", "--schema", "--format", "json"], stdout=subprocess.PIPE,
                          check=True)
    schema = json.loads(done.stdout)
    text = ""
    for table in schema["tables"]:
        text += f"\n### {table['table']}\n\n{table['text']}\n\n| column | type | unit | |\n|---|---|---|---|\n"
        for column in schema["columns"]:
            if column["table"] == table["table"]:
                unit = column["unit"] or ""
                text += f"| {column['column']} | {column['type']} | {unit} | {column['text']} |\n"
    return re.sub(r"  +\|", " |", text)


def examples(page):
    failed = 0
    blocks = re.findall(r"```sql\n(.*?)```", page, re.S)
    for block in blocks:
        done = subprocess.run([KYMO, "query", TRACE, block], capture_output=True, text=True)
        if done.returncode or done.stderr:
            print("FAILED:", block, done.stderr)
            failed += 1
    if len(blocks) < 7:
        print("FAILED: only", len(blocks), "examples")
        failed += 1
    return failed


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    head, mark, made = page.partition(MARK)
    if sys.argv[1:] == ["--write"]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(head + MARK + tables())
        return 0
    if not mark or made != tables():
        print("FAILED: the tables of docs/query.md are not those of the program: run "
              "KYMO_BUILD=... tests/system/read/query_docs.py --write")
        return 1
    return 1 if examples(page) else 0


sys.exit(main())
