#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""The flame graph of spans: as folded stacks it has the self times that SQL has; as SVG it has the same frames, each inside its parent,
and names that look like markup are text."""
import collections
import os
import shutil
import sys
import xml.etree.ElementTree as xml

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_checks
from lib_test import KYMO, accounts, compiled, kymo, lossless, query, record, run

HOSTILE = "</title><script>alert(1)</script>&\\\"'"
PROGRAM = r"""
#include <kymo/loop.h>
static void inner(int i) { KYMO_SPAN("arm", "inner", ("i", i)); }
static void plan(int i) { KYMO_SPAN("arm", "plan"); inner(i); inner(i + 1); }
static void odd(int i) { KYMO_SPAN("a;b", "HOSTILE"); inner(i); plan(i); }
int main(void)
{
	struct kymo_loop loop;

	KYMO_LOOP_INIT(&loop, "arm", "step", 1000000, 0);
	for (int i = 0; i < 30; i++) {
		kymo_loop_wait(&loop);
		plan(i);
		odd(i);
	}
	kymo_loop_end(&loop);
	return 0;
}
""".replace("HOSTILE", HOSTILE)
NAME = HOSTILE.replace("\\\"", "_")      # names of events in CTF have no quotation marks
SVG = "{http://www.w3.org/2000/svg}"


def frames_of(path):
    """Return: the elements, and the frames as (x, width, depth, name) of an SVG file."""
    elements = list(xml.parse(path).getroot().iter())
    return elements, [(int(e.get("data-x")), int(e.get("data-w")), int(e.get("data-d")), e.get("data-n")) for e in elements
                      if e.get("class") == "f"]


def stacks(frames):
    """Return: {stack: its self time} of frames in the order of the file, outer ones before inner ones."""
    own, path = collections.Counter(), []
    for x, width, depth, name in frames:
        path = [p for p in path if p[2] < depth]
        if path:
            assert path[-1][2] == depth - 1 and path[-1][0] <= x and x + width <= path[-1][0] + path[-1][1], (path[-1], x, width)
            own[tuple(p[3] for p in path)] -= width
        path.append((x, width, depth, name))
        own[tuple(p[3] for p in path)] += width
    return {stack[1:]: ns for stack, ns in own.items() if ns and len(stack) > 1}


def graph(check, scratch):
    trace, folded, svg = (os.path.join(scratch, name) for name in ("trace", "x.folded", "x.svg"))
    record(trace, "-q", "--", compiled(scratch, PROGRAM))
    lossless(sum(p["dropped"] for p in accounts(trace)["processes"]))
    kymo("export", trace, "--format", "flamegraph", "-o", folded)
    lines = [line.rsplit(" ", 1) for line in open(folded, encoding="utf-8").read().splitlines()]
    found = {tuple(stack.split(";")): int(ns) for stack, ns in lines}
    check.equal("each stack once", len(found), len(lines))
    rows = query(trace, "SELECT category || ':' || name AS name, sum(self_ns) AS ns FROM spans WHERE name <> 'step_sleep' GROUP BY 1")
    own = collections.Counter()
    for stack, ns in found.items():
        own[stack[-1]] += ns
    check.equal("self times as in SQL", dict(own), {row["name"].replace(";", ":"): row["ns"] for row in rows})
    check.ok("threads are the roots", all(stack[0].startswith("thread program (") for stack in found), list(found)[:2])
    check.equal("inner has three stacks", sum(stack[-1] == "arm:inner" for stack in found), 3)

    kymo("export", trace, "--format", "flamegraph", "-o", svg)
    elements, frames = frames_of(svg)
    check.equal("only these elements", {e.tag.replace(SVG, "") for e in elements},
                {"svg", "g", "rect", "text", "title", "style", "script"})
    check.equal("one script, ours", sum(e.tag == SVG + "script" for e in elements), 1)
    check.ok("an odd name is text", any(name == "a;b:" + NAME for _, _, _, name in frames), frames)
    check.equal("the same stacks", {tuple(name.replace(";", ":") for name in stack): ns for stack, ns in stacks(frames).items()}, found)
    if shutil.which("node"):
        script = os.path.join(scratch, "script.js")
        with open(script, "w", encoding="utf-8") as file:
            file.write(next(e.text for e in elements if e.tag == SVG + "script"))
        run("node", "--check", script)


def refused(check, scratch):
    trace, svg = os.path.join(scratch, "trace"), os.path.join(scratch, "x.svg")
    check.ok("an existing file", "--force" in run(KYMO, "export", trace, "--format", "flamegraph", "-o", svg, status=1).stderr)
    for words in (("--format", "dot", "-o", "y.folded"), ("--format", "flamegraph", "-o", "y.pftrace"),
                  ("--format", "flamegraph", "--node", "/x")):
        run(KYMO, "export", trace, *words, cwd=scratch, status=2)
    kymo("export", trace, "-o", os.path.join(scratch, "chosen.folded"))
    check.equal("the extension chooses", open(os.path.join(scratch, "chosen.folded"), encoding="utf-8").read(),
                open(os.path.join(scratch, "x.folded"), encoding="utf-8").read())
    late = os.path.join(scratch, "late.svg")
    done = run(KYMO, "export", trace, "--format", "flamegraph", "--begin", "+1h", "-o", late, status=None)
    check.ok("no spans", done.returncode == 0 and "no spans" in done.stderr and frames_of(late)[1] == [], done)


with_checks(lambda check, scratch: (graph(check, scratch), refused(check, scratch)))
