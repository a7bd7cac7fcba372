#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A producer of version 2.15 sends a session in CTF 2: viewers of 2.15 see it and are told what it is, older ones do not see it; `kymo
live` prints its events while they come, and what is stored is read by the other verbs."""
import json
import os
import struct
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import Producer, Relay, Viewer
from lib_test import KYMO, check, run, until

CTF_1_8, CTF_2 = 0, 1
EVENTS = 5


def u(size, *roles):
    return {"type": "fixed-length-unsigned-integer", "length": size, "byte-order": "little-endian", "alignment": 8, "roles": list(roles)}


def members(**fields):
    return {"type": "structure", "member-classes": [{"name": n, "field-class": f} for n, f in fields.items()]}


FRAGMENTS = [
    {"type": "preamble", "version": 2},
    {"type": "trace-class", "packet-header-field-class": members(number=u(32, "packet-magic-number"))},
    {"type": "clock-class", "id": "c", "frequency": 1000000000, "origin": "unix-epoch", "offset-from-origin": {"seconds": 1000}},
    {"type": "data-stream-class", "default-clock-class-id": "c",
     "packet-context-field-class": members(first=u(64, "default-clock-timestamp"), last=u(64, "packet-end-default-clock-timestamp"),
                                           used=u(64, "packet-content-length"), whole=u(64, "packet-total-length")),
     "event-record-header-field-class": members(e=u(16, "event-record-class-id"), t=u(64, "default-clock-timestamp"))},
    {"type": "event-record-class", "name": "count", "payload-field-class": members(n={"type": "variable-length-unsigned-integer"})},
]


def metadata():
    return "".join("\x1e" + json.dumps(fragment) + "\n" for fragment in FRAGMENTS).encode()


def packet(number):
    """EVENTS events, one every 10 ns. Return: packet, begin, end."""
    first = number * EVENTS
    events = b"".join(struct.pack("<HQ", 0, 10 * n) + bytes([n]) for n in range(first, first + EVENTS))
    size = 8 * (36 + len(events))
    begin, end = 10 * first, 10 * (first + EVENTS) - 1
    return struct.pack("<IQQQQ", 0xc1fc1fc1, begin, end, size, size) + events, begin, end


def sessions_2_15(relay):
    viewer = Viewer(relay.live, minor=15)
    viewer.request(2)
    found = {}
    for _ in range(viewer.unpack(">I")[0]):
        *_, host, name, ctf = viewer.unpack(">QIIIIII")
        found[viewer.connection.read(host).decode(), viewer.connection.read(name).decode()] = ctf
    return found


with Relay() as relay:
    producer = Producer(relay, minor=15)
    check(producer.minor == 15, "the relay speaks", producer.minor)
    producer.create(name="new", ctf=CTF_2)
    old = Producer(relay).create(name="old")
    described, data = producer.stream("metadata"), producer.stream("channel_0")
    producer.sent()
    producer.metadata(described, metadata())
    producer.packet(data, *packet(0))

    check(sessions_2_15(relay) == {("robot", "new"): CTF_2, ("robot", "old"): CTF_1_8}, "sessions of 2.15:", sessions_2_15(relay))
    viewer = Viewer(relay.live)
    listed = viewer.sessions()
    check([entry[5] for entry in listed] == ["old"], "a viewer of 2.4 sees", listed)
    viewer.create()
    check(viewer.attach(1)[0] == 3 or viewer.attach(2)[0] == 3, "a viewer of 2.4 may attach to what it cannot read")

    url = f"net://127.0.0.1:{relay.live}"
    check("new" in run(KYMO, "live", url).stdout, "kymo live lists", run(KYMO, "live", url).stdout)
    with subprocess.Popen([KYMO, "live", url + "/host/robot/new", "--format", "json"], stdout=subprocess.PIPE, text=True) as live:
        got = [json.loads(live.stdout.readline()) for _ in range(EVENTS)]
        producer.packet(data, *packet(1))
        got += [json.loads(live.stdout.readline()) for _ in range(EVENTS)]
        producer.close_stream(data)
        producer.close_stream(described)
        producer.control.close()
        producer.data.close()
        check(live.wait(300) == 0, "kymo live ended with", live.returncode)
    check([(e["fields"]["n"], e["ts_ns"]) for e in got] == [(n, 1000 * 10**9 + 10 * n) for n in range(2 * EVENTS)], "kymo live printed", got)

    stored = until("a stored trace", lambda: [path for path, _, names in os.walk(relay.output) if "metadata" in names])
    lines = run(KYMO, "dump", "--format", "json", stored[0]).stdout.splitlines()
    check([json.loads(line)["fields"]["n"] for line in lines] == list(range(2 * EVENTS)), "stored:", lines)
    del old
