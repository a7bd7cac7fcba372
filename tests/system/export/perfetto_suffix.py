#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, shared
"""A file whose begin is missing: a real trace processor opens it from any packet on. From a marker on nothing is
missing that begins behind it; from any other packet of a deflated file on, nothing behind the next marker."""
import os
import random
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import fields, rows_in, sample, with_reader
from lib_test import SHARED, kymo

SYNCHRONIZATION_MARKER = 36
ROWS = ("select s.ts, s.dur, s.name, coalesce(tid, 0), coalesce(t.name, '') from slice s left join thread_track k "
        "on s.track_id = k.id left join thread using (utid) join track t on t.id = s.track_id order by 1, 2, 3, 4, 5")
CLOCK = "select int_value from metadata where name = 'trace_time_clock_id'"
BAD = "select name, value from stats where value > 0 and severity in ('error', 'data_loss')"


def places(data):
    """Where each packet begins, and those of them that are markers."""
    begins, markers, at = [], [], 0
    for _, packet in fields(data):
        head = data.index(packet[:16], at) - at     # behind the tag and the length
        begins.append(at)
        if next(fields(packet))[0] == SYNCHRONIZATION_MARKER:
            markers.append(at)
        at += head + len(packet)
    assert at == len(data)
    return begins, markers


def of_slices(rows):
    """What is the same although a slice's begin or end is missing."""
    return {(ts, name, tid, track) for ts, _, name, tid, track in rows}


def behind(reader, data, at, known, check, what):
    """Rows of what is behind @at; all of them must be @known, and nothing be wrong."""
    rows, ((clock,),), bad = reader.query(data[at:], ROWS, CLOCK, BAD, pedantic=False)
    check.equal(f"{what}: opens at byte {at} of {len(data)}", [clock, bad], [3, []])
    check.equal(f"{what}: what is there is as it was", sorted(of_slices(rows) - known)[:5], [])
    return rows


def check_file(check, reader, data, what, deflated, least):
    """@least: so many markers must be in it."""
    begins, markers = places(data)
    check.ok(f"{what}: {len(markers)} markers, {len(begins)} packets", len(markers) >= least)
    whole, _, bad = reader.query(data, ROWS, CLOCK, BAD)
    check.equal(f"{what}: whole, it opens without a complaint", bad, [])
    known = of_slices(whole)
    pick = random.Random(what)
    marker = pick.choice(markers)
    rows = behind(reader, data, marker, known, check, f"{what}, from a marker")
    check.equal(f"{what}: all that begins behind it is there", len(rows), rows_in(data[marker:]))
    check.ok(f"{what}: that is something, not all", 0 < len(rows) < len(whole), len(rows))
    if deflated:
        inner = pick.choice([at for at in begins if 0 < at < markers[-1] and at not in markers])
        after = min(at for at in markers if at > inner)
        check.ok(f"{what}: nothing behind the next marker is missing",
                 len(behind(reader, data, inner, known, check, f"{what}, from between")) >= rows_in(data[after:]) > 0)
    return whole


def check_random(check, reader, level, seed):
    data, said = sample("restarts", level, seed)
    whole = check_file(check, reader, data, f"seed {seed}, level {level}", level > 0, 2)
    check.equal(f"seed {seed}, level {level}: restarts change no row",
                [len(whole), sum(dur for _, dur, *_ in whole)],
                [said["slices"] + said["instants"] + said["losses"], said["duration"]])


def check_workload(check, reader):
    """Without being asked for, restarts are there every now and then: half of 100 000 events are behind one."""
    data, _ = sample("workload", 6, 12500)
    _, markers = places(data)
    check.ok("a long file has markers", len(markers) >= 2, markers)
    check.ok("half of it is behind the first", 0.5 < rows_in(data[markers[0]:]) / rows_in(data) < 0.95)


def check_real(check, reader):
    """A real trace in parts, of which the first are gone, and of the next the first packets."""
    trace = os.path.join(SHARED, "data", "ros2-traces", "discarded", "ctf")
    if not os.path.isdir(trace):
        return
    out = os.path.join(reader.scratch, "real.pftrace")
    kymo("export", "-q", trace, "--split", "64K", "-o", out)
    parts = []
    while os.path.exists(f"{out[:-8]}.{len(parts) + 1}.pftrace"):
        with open(f"{out[:-8]}.{len(parts) + 1}.pftrace", "rb") as part:
            parts.append(part.read())
    check.ok(f"{len(parts)} parts", len(parts) > 1)
    known = of_slices(reader.query(b"".join(parts), ROWS)[0])
    begins, _ = places(parts[-2])
    rest = behind(reader, b"".join(parts[-2:]), begins[len(begins) // 2], known, check, "parts without their begin")
    check.ok("the last part is whole", of_slices(reader.query(parts[-1], ROWS)[0]) <= of_slices(rest))


def main(check, reader, _):
    for level, seed in ((0, 1), (6, 2)):
        check_random(check, reader, level, seed)
    check_workload(check, reader)
    check_real(check, reader)


with_reader(main)
