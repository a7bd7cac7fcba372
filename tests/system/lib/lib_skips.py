# SPDX-License-Identifier: Apache-2.0
"""Why tests of a JUnit file of ctest were skipped, in whole or in part.

usage: lib_skips.py FILE        a line for each reason; "in part: ..." where the rest of a test ran"""
import re
import sys
import xml.etree.ElementTree as tree

SAID = re.compile(r"^(?:skipped(?: (in part))?: (.*)"                        # scripts and unit tests: CONTRIBUTING.md
                  r"|\[  SKIPPED \] (\w+)"                                    # a function of a unit test, by cmocka
                  r"|SKIPPED \[\d+\] \S+?:(?:\d+:)? (.*))$", re.M)            # pytest -rs


def reasons(test):
    """Return: [(the rest of the test ran, why)] of a test case of the file."""
    output = test.findtext("system-out") or ""
    found = []
    for part, why, function, pytest in SAID.findall(output):
        reason = (True, f"{function} of {test.get('name')}") if function else (bool(part or pytest), why or pytest)
        if reason not in found:
            found.append(reason)
    if test.get("status") in ("notrun", "disabled"):
        return [(False, found[-1][1] if found else f"no reason given by {test.get('name')}")]
    return found


def main():
    for test in tree.parse(sys.argv[1]).iter("testcase"):
        for part, why in reasons(test):
            print(("in part: " if part else "") + ("no ../shared" if "../shared" in why else why[:100]))


if __name__ == "__main__":
    main()
