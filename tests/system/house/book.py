#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, quick
"""The documentation is one book: docs/README.md has every page of docs/ and of its folders once, and every link of README.md, docs/ and the
pages beside them that names a file or a heading here leads to one."""
import glob
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SOURCE, check


def text_of(path):
    """Without what is fenced, or in backticks: it is no link."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*\]\([^`\n]*`", "", text)


def anchors(path):
    """Those of GitHub and its like: lower case, punctuation left out, dashes for blanks, numbered when there are more."""
    found = []
    for heading in re.findall(r"^#+ (.*)", text_of(path), re.M):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "]", heading).lower()).replace(" ", "-")
        found.append(name if name not in found else f"{name}-{found.count(name)}")
    return found


def links(path):
    """(target, anchor) of each link that leads to a file of ours."""
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(path)):
        if not re.match(r"[a-z]+:", link):
            file, _, anchor = link.partition("#")
            yield os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path, anchor


def main():
    pages = [path for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "ros2/**/*.md")
             for path in glob.glob(os.path.join(SOURCE, pattern), recursive=True)]
    count = 0
    for path in pages:
        for target, anchor in links(path):
            count += 1
            where = f"{os.path.relpath(path, SOURCE)}: {os.path.relpath(target, SOURCE)}"
            if check(os.path.exists(target), f"{where} does not exist") and anchor and target.endswith(".md"):
                check(anchor in anchors(target), f"{where} has no heading #{anchor}")

    book = os.path.join(SOURCE, "docs", "README.md")
    placed = [target for target, _ in links(book)]
    beside = os.path.join(SOURCE, "docs", "decisions")			# has a list of its own
    for path in sorted(glob.glob(os.path.join(SOURCE, "docs", "*.md")) + glob.glob(os.path.join(SOURCE, "docs", "*", "*.md"))):
        check(path == book or os.path.dirname(path) == beside or placed.count(path) == 1,
              f"docs/README.md has {os.path.relpath(path, SOURCE)} {placed.count(path)} times, not once")
    chapters = [int(number) for number in re.findall(r"^(\d+)\. ", text_of(book), re.M)]
    check(chapters == list(range(1, len(chapters) + 1)), f"docs/README.md counts its chapters {chapters}")
    check(count >= 100, f"only {count} links were found")
    print(f"{count} links in {len(pages)} pages")


main()
