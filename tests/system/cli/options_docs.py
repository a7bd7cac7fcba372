#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, quick
"""What the pages say of verbs and options is what the program has (`kymo help --format json`): each verb and each option that they name
exists, and belongs to the verb that it is written with. docs/cli.md and docs/comparison/compare.md are checked to the word, the other pages where
they show a command.

usage: options_docs.py"""
import glob
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SOURCE, answer, check, failures

GLOBAL = {"--help", "-h", "--version", "-V", "--completion", "--man"}	# of the command itself


def table():
    """Return: the options of each verb, as they are written."""
    made = answer("help")
    options = {row["verb"]: {"--help", "-h"} for row in made["verbs"]}
    for row in made["options"]:
        options[row["verb"]].add("--" + row["option"])
        if row["letter"]:
            options[row["verb"]].add("-" + row["letter"])
    options["help"] = {"--format", "-f"}
    return options


def words_of(span):
    """The words of one command: none behind a pipe, a `--` or a further command."""
    return re.split(r"\s--\s|\s--$|[|;&>]", span)[0].replace("[", " ").replace("]", " ").split()


def check_command(where, span, options):
    """@span is `kymo VERB ...`: the verb exists, and has each option in it."""
    words = words_of(span)
    if len(words) < 2 or not re.fullmatch(r"[a-z]+", words[1]):
        return 0
    if words[1] not in options:
        failures.append(f"{where}: there is no verb {words[1]}: `{span}`")
        return 0
    named = [re.match(r"--?[a-z][a-z-]*", word).group() for word in words[2:] if re.match(r"--?[a-z]", word)]
    for option in named:
        if option.startswith("--") and option not in options[words[1]]:
            failures.append(f"{where}: kymo {words[1]} has no {option}: `{span}`")
    return len(named)


def check_word(where, span, options):
    """@span is a piece of a sentence: each long option in it is one of some verb."""
    known = set().union(GLOBAL, *options.values())
    named = re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", span)
    for option in named:
        if option not in known:
            failures.append(f"{where}: no verb has {option}: `{span}`")
    return len(named)


def spans_of(line):
    return re.findall(r"`([^`]+)`", line)


def about_kymo(line):
    """Of a row of the comparison with other tracers: its name, and the column of kymo."""
    cells = line.split("|")
    return "|".join(cells[:3]) if len(cells) > 8 else line


def check_page(path, options, every_word):
    """Return: how many options were looked up."""
    name, count = os.path.relpath(path, SOURCE), 0
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            where = f"{name}:{number}"
            for span in spans_of(about_kymo(line) if every_word else line):
                if span.startswith("kymo "):
                    count += check_command(where, span, options)
                elif every_word:
                    count += check_word(where, span, options)
            command = re.match(r"\s*(?:\$ )?(kymo [a-z]+ .*?)(?:\s+#.*)?$", line)
            if command and (line.startswith(("    ", "$ ")) or every_word):
                count += check_command(where, command.group(1), options)
    return count


def check_shared(options):
    """docs/cli.md: "`list`, `info` and ... accept the same options", and the table below."""
    with open(f"{SOURCE}/docs/cli.md", encoding="utf-8") as file:
        found = re.search(r"^(.*) accept the same options:\n\n((?:\|.*\n)+)", file.read(), re.M)
    assert found, "docs/cli.md no longer says which verbs have the same options"
    verbs = spans_of(found.group(1))
    shared = [option for row in found.group(2).splitlines() for span in spans_of(row.split("|")[1]) for option in re.findall(r"--[a-z-]+", span)]
    assert len(verbs) > 5 and len(shared) > 3, (verbs, shared)
    for verb in verbs:
        for option in shared:
            check(option in options.get(verb, ()), f"docs/cli.md: kymo {verb} has no {option}, which the page says of it")


def main():
    options = table()
    for page in "cli.md", "comparison/compare.md":
        count = check_page(f"{SOURCE}/docs/{page}", options, True)
        check(count >= 3, f"docs/{page}: hardly any option found: is this test looking at the right place?")
    pages = sorted(glob.glob(f"{SOURCE}/docs/**/*.md", recursive=True)) + [f"{SOURCE}/README.md", f"{SOURCE}/CONTRIBUTING.md"]
    count = sum(check_page(page, options, False) for page in pages)
    check(count >= 100, f"only {count} options found in all pages: is this test looking at the right place?")
    check_shared(options)
    print(f"{count} options of commands")


main()
