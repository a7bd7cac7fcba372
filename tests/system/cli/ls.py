#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, quick
"""kymo ls lists every recording with what is wrong with it, and kymo rm removes recordings and nothing else."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, SOURCE, check, in_directory, private, until

EVENTS = os.path.join(BUILD, "tests", "kymo_events")


class Place:
    def __init__(self, work):
        self.traces = os.path.join(work, "home/.ros/tracing")
        self.environment = private(work, HOME=os.path.join(work, "home"))
        for name in ("ROS_TRACE_DIR", "ROS_HOME"):
            self.environment.pop(name, None)

    def path(self, *names):
        return os.path.join(self.traces, *names)

    def kymo(self, *words, status=0, **more):
        done = subprocess.run([KYMO, *words], env=self.environment, capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, **more)
        check(done.returncode == status, words, "exits with", done.returncode, "and says", done.stderr)
        return done

    def ls(self, *words):
        return json.loads(self.kymo("ls", "--format", "json", *words).stdout)["recordings"]

    def names(self):
        return [session["name"] for session in self.ls()]


def lists(place):
    check("No recordings in" in place.kymo("ls").stdout, "an empty directory is not said to be one")
    for name in ("first", "host/second"):
        os.makedirs(os.path.dirname(place.path(name)), exist_ok=True)
        place.kymo("record", "-q", "-o", place.path(name), "--", EVENTS, "ls", "10", "100")
    os.makedirs(place.path("nothing of kymo's"))
    second, first = place.ls()
    check((first["name"], second["name"]) == ("first", "host/second"), "not the newest first:", first, second)
    told = json.loads(place.kymo("info", "--format", "json", place.path("first")).stdout)
    check([first[key] for key in ("events", "begin_ns", "end_ns", "processes", "lost")] ==
          [told[key] for key in ("events", "begin_ns", "end_ns", "processes_count", "lost")], "ls has", first, "info", told)
    check(first["complete"] == 1 and not first["note"] and not first["running"], "not complete:", first)
    text = place.kymo("ls").stdout
    check(re.search(r"^today \d\d:\d\d .* host/second$", text, re.M), "for people:", text)


def says_what_is_wrong(place):
    shutil.copytree(place.path("first"), place.path("killed"))
    with open(place.path("killed/kymo.json"), encoding="utf-8") as file:
        text = file.read()
    with open(place.path("killed/kymo.json"), "w", encoding="utf-8") as file:
        file.write(text.replace('"ended": true', '"ended": false').replace('"ended":true', '"ended":false'))
    shutil.copytree(place.path("first"), place.path("torn"))
    with open(place.path("torn/metadata" if os.path.exists(place.path("torn/metadata")) else "torn/ust/metadata"), "w", encoding="utf-8") as file:
        file.write("nonsense")
    notes = {session["name"]: session["note"] for session in place.ls()}
    check("did not end" in notes["killed"], "a recorder that was killed:", notes)
    check(notes["torn"].startswith("damaged: "), "damaged metadata:", notes)


def removes(place):
    for operand, status, why in (("nobody", 3, "cannot find"), ("/", 2, "not a recording"), (place.traces, 2, "not a recording"),
                                 (place.path("nothing of kymo's"), 2, "not a recording"), ("first", 2, "--yes")):
        check(why in place.kymo("rm", operand, status=status).stderr, operand, "is not refused with", why)
    place.kymo("rm", "--yes", "first", "nobody", status=3)
    check("first" in place.names(), "something was removed although an operand was refused")
    outside = place.path("nothing of kymo's", "keep")
    os.makedirs(outside)
    os.symlink(outside, place.path("first", "link"))
    os.symlink(place.path("killed"), place.path("alias"))
    place.kymo("rm", "--yes", place.path("alias"), status=2)
    place.kymo("rm", "--yes", "first", place.path("first") + "/", "torn")
    check(sorted(place.names()) == ["host/second", "killed"] and os.path.isdir(outside), "left:", place.names())


def leaves_the_running_one(place):
    recorder = subprocess.Popen([KYMO, "record", "-q", "-o", place.path("now"), "--", "sh", "-c", f"{EVENTS} ls 10 100; exec sleep 60"],
                                env=place.environment)
    try:
        until("a recording", lambda: any(session["running"] for session in place.ls()))
        until("since when", lambda: any(session["note"].startswith("recording since ") for session in place.ls()))
        check("is being recorded" in place.kymo("rm", "--yes", "now", status=1).stderr, "a recording that goes on can be removed")
    finally:
        place.kymo("stop", "-q")
        recorder.wait()
    place.kymo("rm", "--yes", "now")


def names_findings(place):
    """The number and the first sentence of report, once a verb has read the recording; not when it has changed since."""
    shutil.copytree(os.path.join(SOURCE, "tests/fixtures/lifecycle"), place.path("findings"))
    place.environment.pop("KYMO_CACHE", None)
    place.environment["XDG_CACHE_HOME"] = os.path.join(os.path.dirname(place.traces), "cache")

    def row(name):
        return next(row for row in place.ls() if row["name"] == name)

    check(row("findings")["findings"] is None, "findings of what nobody read:", row("findings"))

    def known():
        told = json.loads(place.kymo("report", place.path("findings"), "--format", "json", "--section", "findings").stdout)["findings"]
        place.kymo("report", place.path("findings"))
        its = row("findings")
        return its["findings"] is not None and (its["findings"] == len(told) and its["finding"] == (told[0]["text"] if told else None))

    until("the findings of report", known)
    os.utime(place.path("findings", os.listdir(place.path("findings"))[0]))
    check(row("findings")["findings"] is None, "findings of what has changed since:", row("findings"))


def main(work):
    place = Place(work)
    for test in (lists, says_what_is_wrong, removes, leaves_the_running_one, names_findings):
        test(place)


in_directory(main)
