#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Names of programs that are not text (tests/tools/hostile_names.c): what every verb prints in every format is valid UTF-8
without control characters and marks of direction, is well formed, and calculates nothing in a program for tables."""
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.dom.minidom

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, TESTS, check, record

NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def text_of(what, data, allowed=""):
    """@data as text, with a look at each character."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        check(False, what, "is not UTF-8:", error, data[max(0, error.start - 40):error.end + 20])
        return data.decode("utf-8", "replace")
    found = next((m for m in NOT_TEXT.finditer(text) if m[0] not in allowed), None)
    check(not found, what, "has", repr(found and text[max(0, found.start() - 40):found.end() + 20]))
    return text


def look_csv(what, data):
    # Quoted cells keep the ends of lines.
    text = text_of(what, data, allowed="\r")
    for row in csv.reader(text.splitlines(keepends=True)):
        for cell in row:
            formula = len(cell) > 1 and cell[0] in "=+-@\t\r" and not re.fullmatch(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", cell)
            check(not formula, what, "has a formula:", repr(cell))


def look(what, form, data):
    if form == "csv":
        look_csv(what, data)
        return
    text = text_of(what, data)
    if form == "json":
        json.loads(text)
    elif form == "jsonl":
        for line in text.splitlines():
            json.loads(line)
    elif form == "svg":
        xml.dom.minidom.parseString(text)


def ask(form, *words):
    what = " ".join(words)
    done = subprocess.run((KYMO, *words), capture_output=True, check=False, stdin=subprocess.DEVNULL)
    check(done.returncode in (0, 6), what, "ended with", done.returncode, done.stderr[:300])
    text_of(what + ": stderr", done.stderr)
    look(what, form, done.stdout)
    return done.stdout


def look_verbs(trace):
    for verb in ("info", "list", "report", "why", "flow"):
        for form in ("table", "json", "csv"):
            ask(form, verb, "--format", form, trace)
    ask("text", "dump", trace)
    ask("jsonl", "dump", "--format", "json", trace)
    ask("text", "live", trace)
    ask("jsonl", "live", "--format", "json", trace)
    ask("text", "live", "--top", trace)


def look_tables(trace):
    tables = [line.split()[0] for line in ask("text", "query", trace, ".tables").decode().splitlines()]
    check(len(tables) > 30, "tables:", tables)
    for form in ("table", "json", "csv"):
        ask(form, "query", trace, "--format", form, "; ".join(f"SELECT * FROM {table}" for table in tables))
    for table in ("nodes", "callbacks", "publications", "lifecycle", "processes", "communications"):
        ask("csv", "report", "--section", table, "--format", "csv", trace)
    return tables


def look_exports(trace, scratch, tables):
    forms = {"dot": "text", "chrome": "json", "caret-architecture": "text", "csv": "csv", "json": "jsonl"}
    if shutil.which("dot"):
        forms["svg"] = "svg"
    for name, form in forms.items():
        out = os.path.join(scratch, "out-" + name)
        ask("text", "export", "--format", name, "-o", out, trace)
        files = [os.path.join(out, f) for f in os.listdir(out)] if os.path.isdir(out) else [out]
        for file in files:
            with open(file, "rb") as f:
                look(f"export --format {name}: {os.path.basename(file)}", form, f.read())
    out = os.path.join(scratch, "out.sqlite")
    ask("text", "export", "-o", out, trace)
    database = sqlite3.connect(out)
    for table in tables:
        if table != "events":       # only on request
            database.execute(f"SELECT * FROM {table}").fetchall()


def look_long_name(trace):
    """A long name takes room in its own rows only, and JSON has all of it."""
    lines = ask("table", "report", "--section", "nodes", trace).decode().splitlines()
    check(max(map(len, lines)) < 2000, "the longest line has", max(map(len, lines)))
    check(sorted(map(len, lines))[len(lines) // 2] < 400, "the usual line has", sorted(map(len, lines))[len(lines) // 2])
    check(b"A" * 5999 in ask("json", "report", "--section", "nodes", "--format", "json", trace), "JSON cuts a long name")


with tempfile.TemporaryDirectory() as directory:
    recorded = os.path.join(directory, "trace")
    record(recorded, "--", os.path.join(TESTS, "hostile_names"))
    look_verbs(recorded)
    exports = os.path.join(directory, "a", "b", "c", "d")   # one of the names is ../../../etc/x
    os.makedirs(exports)
    look_exports(recorded, exports, look_tables(recorded))
    strange = {os.path.join(place, file) for place, _, files in os.walk(directory) for file in files
               if not os.path.join(place, file).startswith((recorded, os.path.join(directory, "run"), exports + "/out"))}
    check(not strange, "files outside of what -o names:", strange)
    look_long_name(recorded)
