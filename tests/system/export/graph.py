#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo export --format dot` against a naive reading: who publishes where and how often, who gets
it. And --format svg: with graphviz a picture, without it an error that says what to install."""
import collections
import os
import re
import shutil
import sys
import tempfile
import xml.dom.minidom

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_messages import Reading, needs_bt2
from lib_test import KYMO, SHARED, check, run, skip

TRACES = os.path.join(SHARED, "data", "ros2-traces")
IGNORED = ("/rosout", "/parameter_events")


def export(trace, *options, status=0, **more):
    return run(KYMO, "export", os.path.join(TRACES, trace, "ctf"), *options, status=status, **more)


def edges_of(text):
    """{(from, to): count}, callbacks by their node, topics by their name."""
    name, node = {}, None
    for line in text.splitlines():
        cluster = re.match(r'\t\tlabel="([^ ]+) \(\d+\)";', line)
        if cluster:
            node = cluster[1]
        item = re.match(r'\t+([ctp]\d+) \[.*label="([^"\\ ]*)', line)
        if item:
            name[item[1]] = node if item[1][0] == "c" else item[2]
    edges = collections.Counter()
    for m in re.finditer(r'\t([ctp]\d+) -> ([ct]\d+) \[label="(\d+)', text):
        edges[name[m[1]], name[m[2]]] += int(m[3])
    return edges


def compare(trace):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
    reading = Reading(os.path.join(TRACES, trace, "ctf"))
    expected = collections.Counter()
    for p in reading.publications:
        if p.topic in IGNORED:
            continue
        expected[p.node, p.topic] += 1
        for run in p.taken:
            expected[p.topic, reading.owner(run.callback)] += 1
    done = export(trace, "--format", "dot", "-o", "-")
    check(done.returncode == 0, trace, done.stderr)
    ours = edges_of(done.stdout)
    check(ours == expected, trace, "edges", ours - expected, expected - ours)
    print("%s: %d edges, %d messages" % (trace, len(expected), sum(expected.values())))
    return done.stdout


def pictures():
    with tempfile.TemporaryDirectory(prefix="kymo-graph-") as scratch:
        path = os.path.join(scratch, "graph.svg")
        done = export("pair_intra", "--format", "svg", "-o", path, status=1, env={"PATH": scratch, "HOME": scratch})
        check("apt install graphviz" in done.stderr, "no dot:", done)
        check(not os.path.exists(path), "an empty file was left behind")
        if not shutil.which("dot"):
            print("no graphviz here: no picture tried")
            return
        export("pair_intra", "--format", "svg", "-o", path)
        document = xml.dom.minidom.parse(path)
        texts = [t.firstChild.data for t in document.getElementsByTagName("text")]
        check("/ip_burst" in texts and "/ip_producer (18825)" in texts, "svg texts:", texts)
        export("pair_intra", "--format", "svg", "-o", path, status=1)     # it exists now


needs_bt2()
if not os.path.isdir(TRACES):
    skip("no recorded traces here")
compare("pair_basic_st")
compare("pair_pipeline_mt")
text = compare("pair_intra")
check(re.search(r'color="#c00000".*label="/ip_burst\\n60,.*40 untaken\\n80 overwritten"', text),
      "what was lost is not marked")
text = export("pair_basic_st", "--format", "dot", "-o", "-", "--node", "planning/*").stdout
check(set(edges_of(text)) == {("/perception/fused", "/planning/planner"),
                              ("/planning/planner", "/planning/planner/status")},
      "--node", edges_of(text))
check('no subscriber' in text, "--node", text)
pictures()
