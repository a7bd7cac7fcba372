#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""The message context `tilde`: into a trace of CARET, a stream with TILDE's events is written, with ids that the message before the
latest one has led to; the path then follows the ids, and no longer the latest message."""
import csv
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SHARED, check, kymo, skip

DEMO = os.path.join(SHARED, "data", "caret-demo", "ctf", "ust", "uid", "1000", "64-bit")
NODE, SUBSCRIBED, PUBLISHED = "/message_driven_node", "/topic2", "/topic3"
OBJECT, TEXT, NUMBER = 16, "string", 10       # how a field is declared
EVENTS = {"tilde_publisher_init": (("publisher", OBJECT), ("node_name", TEXT), ("topic_name", TEXT)),
          "tilde_subscription_init": (("subscription", OBJECT), ("node_name", TEXT), ("topic_name", TEXT)),
          "tilde_subscribe_added": (("subscription_id", OBJECT), ("node_name", TEXT), ("topic_name", TEXT)),
          "tilde_subscribe": (("subscription", OBJECT), ("tilde_message_id", NUMBER)),
          "tilde_publish": (("publisher", OBJECT), ("subscription_id", OBJECT), ("tilde_message_id", NUMBER))}
FIRST_ID = 500
PATH = """named_paths:
- path_name: tilde
  node_chain:
  - {{node_name: /filter_node, publish_topic_name: {topics[0]}, subscribe_topic_name: UNDEFINED}}
  - {{node_name: {node}, publish_topic_name: {topics[1]}, subscribe_topic_name: {topics[0]}}}
  - {{node_name: /timer_driven_node, publish_topic_name: UNDEFINED, subscribe_topic_name: {topics[1]}}}
"""


def declared():
    """Return: the metadata of the demo as text, with TILDE's events, and the offset of its clock."""
    with open(os.path.join(DEMO, "metadata"), "rb") as file:
        data = file.read()
    text, at, begin = b"", 0, 37            # so long is the header of a packet
    while at < len(data):
        content, packet = struct.unpack_from("<II", data, at + 24)
        text += data[at + begin:at + content // 8]
        at += packet // 8
    text = text.decode().rstrip("\0")
    for number, (name, fields) in enumerate(EVENTS.items()):
        text += f'event {{\n\tname = "ros2_caret:{name}";\n\tid = {FIRST_ID + number};\n\tstream_id = 0;\n\tfields := struct {{\n'
        for field, kind in fields:
            kind = "string" if kind == TEXT else f"integer {{ size = 64; align = 8; signed = 0; base = {kind}; }}"
            text += f"\t\t{kind} _{field};\n"
        text += "\t};\n};\n"
    return text, int(re.search(r"offset = (\d+);", text)[1])


def written(directory, events):
    """A trace with a stream of these events: (ns, tid, name, fields)."""
    shutil.copytree(DEMO, directory, copy_function=shutil.copyfile)
    os.chmod(directory, 0o755)
    text, offset = declared()
    with open(os.path.join(directory, "metadata"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(DEMO, "ros2_0"), "rb") as file:
        head = file.read(24)                # magic, UUID, number of the stream
    body = b""
    for ns, tid, name, fields in sorted(events):
        number = FIRST_ID + list(EVENTS).index(name)
        body += struct.pack("<HIQ", 65535, number, ns - offset) + struct.pack("<i17si", 25055, b"end_to_end_samp", tid)
        for value in fields:
            body += value.encode() + b"\0" if isinstance(value, str) else struct.pack("<Q", value)
    times = [event[0] - offset for event in events]
    size = 8 * (len(head) + 8 + 6 * 8 + 4 + len(body))
    with open(os.path.join(directory, "ros2_tilde"), "wb") as file:
        file.write(head + struct.pack("<Q", 99) + struct.pack("<QQQQQQI", min(times), max(times), size, size, 0, 0, 0) + body)


def facts():
    """Return: publications of both topics, and starts of the callbacks of both, (ns, tid) each."""
    def one(sql):
        return int(next(csv.DictReader(io.StringIO(kymo("query", DEMO, "--format", "csv", sql))))["x"], 0)

    objects = {}
    for topic in SUBSCRIBED, PUBLISHED:
        objects["publisher_handle", one(f"SELECT publisher_handle AS x FROM publishers WHERE topic_name = '{topic}'")] = "publish", topic
        objects["callback", one(f"SELECT callback_object AS x FROM callbacks WHERE topic_name = '{topic}'")] = "start", topic
    found = {key: [] for key in objects.values()}
    text = subprocess.run(["babeltrace2", "--clock-seconds", DEMO], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout
    for line in text.splitlines():
        line_of = re.match(r"\[(\d+)\.(\d{9})\].* ros2:(rclcpp_publish|callback_start): .*vtid = (\d+) }, "
                           r"{ (publisher_handle|callback) = (0x\w+)", line)
        if line_of and (line_of[5], int(line_of[6], 0)) in objects:
            found[objects[line_of[5], int(line_of[6], 0)]].append((int(line_of[1] + line_of[2]), int(line_of[4])))
    return found


def responses(trace, architecture):
    text = kymo("report", trace, "--architecture", architecture, "--path", "tilde", "--format", "csv", "--section", "response-rows")
    table = csv.DictReader(line for line in io.StringIO(text[text.index("path,case,"):]) if not line.startswith("#"))
    return {int(row["start_ns"]): int(row["start_ns"]) + int(row["duration_ns"]) for row in table
            if row["case"] == "all" and row["position"] == "0"}


def main():
    if not os.path.isdir(DEMO):
        skip("no trace of CARET in ../shared")
    found = facts()
    sent, arrived = found["publish", SUBSCRIBED], found["start", SUBSCRIBED]
    led, ended = found["publish", PUBLISHED], found["start", PUBLISHED]
    for publications, starts in (sent, arrived), (led, ended):      # each arrives before the next one is sent; the last one does not
        assert len(starts) == len(publications) - 1 > 30, found
        assert all(a[0] < b[0] < c[0] for a, b, c in zip(publications, starts, publications[1:])), found
    begin = min(sent)[0]
    events = [(begin, 1, "tilde_publisher_init", (0x71, NODE, PUBLISHED)),
              (begin + 1, 1, "tilde_subscription_init", (0x72, NODE, SUBSCRIBED)),
              (begin + 2, 1, "tilde_subscribe_added", (0x73, NODE, SUBSCRIBED))]
    events += [(ns + 1, tid, "tilde_subscribe", (0x72, 1000 + number)) for number, (ns, tid) in enumerate(arrived)]
    want = {}
    for (ns, tid), (end, _) in zip(led, ended):
        before = sum(start < ns for start, _ in arrived) - 2    # the message before the latest one
        if before >= 0:
            events.append((ns - 1, tid, "tilde_publish", (0x71, 0x73, 1000 + before)))
            want.setdefault(sent[before][0], end)
    with tempfile.TemporaryDirectory() as scratch:
        trace = os.path.join(scratch, "trace")
        written(trace, events)
        with open(os.path.join(SHARED, "data", "caret-demo", "architecture.yaml"), encoding="utf-8") as file:
            latest = PATH.format(node=NODE, topics=(SUBSCRIBED, PUBLISHED)) + file.read().replace("named_paths:\n", "", 1)
        for name, text in (("latest", latest), ("tilde", latest.replace("use_latest_message", "tilde"))):
            with open(os.path.join(scratch, name), "w", encoding="utf-8") as file:
                file.write(text)
        got, other = (responses(trace, os.path.join(scratch, name)) for name in ("tilde", "latest"))
    follows = {start: end for start, end in got.items() if start in want}
    # Inputs that end in the very first output are left out.
    first = min(want.values())
    check(follows == {start: end for start, end in want.items() if end != first}, "by ids", follows, want)
    differ = sum(other.get(start) != end for start, end in follows.items())
    check(differ > len(follows) / 2, "the latest messages gave the same", other)
    print(f"{len(follows)} responses by ids, {differ} of them other ones than by the latest message")


main()
