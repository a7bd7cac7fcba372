#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""A trace that is still being recorded, and one whose recorder was killed: all that shows the trace says so, with the words of `kymo info`, and the findings are
those of a whole trace."""
import os
import re
import signal
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, accounts, answer, check, in_directory, kymo, private, record, report, run, running, until

CYCLIC = os.path.join(BUILD, "cyclic", "cyclic")
MISSING = "The end of the recording may be missing"


def notes(trace):
    return {os.path.basename(row["path"]): row["note"] for row in answer("ls", os.path.dirname(trace))["recordings"]}


def page_of(trace, *words):
    """Return: what the page says before any script runs."""
    file = trace + ".html"
    kymo("report", trace, "--html", "--force", "-q", "-o", file, *words)
    with open(file, encoding="utf-8") as page:
        text = page.read()
    lead = text[text.index("<header"):text.index("<noscript")]
    return " ".join(re.sub(r"<[^>]*>", " ", lead).split())


def ends(trace, words, is_killed):
    """Everything says that the recorder @words; "" : that nothing is missing."""
    screen, file = kymo("report", trace), trace + ".summary"
    head = f"INCOMPLETE: the recorder {words}" if words else "none lost"
    first = " ".join(screen.split())
    run(KYMO, "report", trace, "--format", "summary", "--force", "-o", file)
    of_file = " ".join(kymo("report", file).split())
    for name, text in ("the first screen", first), ("the file of a summary", of_file), ("the page", page_of(trace)):
        check(head in text and ("INCOMPLETE" in text) == bool(words) and ("none lost" in text) == (not words), name, "of a recorder that", words, text[:600])
    check((MISSING in first) == (MISSING in of_file) == is_killed, "what that means:", first[:600])
    told = f"the recorder {words}" if words else None
    for what, found in (("the report", report(trace)), ("a section", report(trace, "spans")), ("the file", answer("report", file))):
        check(found["incomplete"] == told and found["lost_events"] == 0, what, "for programs:", found["incomplete"])
    lost = re.search(r"^Lost: .*", kymo("report", trace, "--all"), re.M)[0]
    check(lost == ("Lost: nothing that the files show" if words else "Lost: nothing"), lost)
    recorder = re.search(r"^Recorder: .*", kymo("info", trace), re.M)[0]
    check(recorder.partition(";")[0] == f"Recorder: {words or 'ended in order'}", recorder)
    # The end of a window is not that of the recording.
    window = kymo("report", trace, "--end", "+100ms")
    check("INCOMPLETE" not in window, "before its end:", window[:200])


def same_findings(trace):
    """What does not end has no finding of its own, so all show the same first one."""
    found, top = report(trace, "findings")["findings"], answer("top", "--once", trace)["findings"]
    check(all(finding["kind"] != "trust" for finding in found), found)
    check([finding["text"] for finding in found][:1] == [finding["finding"] for finding in top][:1], "report:", found, "top:", top)


def test(directory):
    trace, environment = os.path.join(directory, "killed"), private(directory)
    with running(KYMO, "run", "--", CYCLIC, "--seconds", "300", env=environment) as program:
        with running(KYMO, "record", "-q", "-o", trace, env=environment) as recorder:
            until("events in the trace", lambda: os.path.exists(os.path.join(trace, "kymo.json")) and
                  answer("info", trace, status=(0, 3))["events"] > 2000)
            ends(trace, "still records", False)
            recorder.send_signal(signal.SIGKILL)
        program.send_signal(signal.SIGKILL)
    check(accounts(trace)["ended"] is False, "it ended in order")
    ends(trace, "did not end in order", True)
    same_findings(trace)
    check(notes(trace)["killed"] == "incomplete: the recorder did not end in order", notes(trace))
    # Together with a trace that is whole, it says which.
    whole = os.path.join(directory, "whole")
    record(whole, "-q", "--", CYCLIC, "--seconds", "1")
    ends(whole, "", False)
    both = " ".join(kymo("report", whole, trace).split())
    check("INCOMPLETE: the recorder did not end in order" in both, both[:300])
    rows = {os.path.basename(row["path"]): row["recorder"] for row in answer("info", whole, trace)["recorders"]}
    check(rows == {"whole": "ended in order", "killed": "did not end in order"}, rows)


in_directory(test)
