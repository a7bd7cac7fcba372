#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers, shared
"""Traces of two hosts that were recorded each on its own, with equal pids, stay apart and aligned in one archive:
a real trace processor finds the slices of both. Python's tar reader and JSON know what is in it."""
import json
import os
import shutil
import sys
import tarfile
import zlib

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import COMPRESSED, fields, table, with_reader
from lib_test import BUILD, KYMO, kymo, private, record, run

LATER_NS = 5000000000
SLICES = ("select p.machine_id, s.ts, s.dur, s.name from slice s join thread_track k on s.track_id = k.id "
          "join thread t using (utid) join process p using (upid) order by 1, 2, 3, 4")
PROCESSES = "select pid, name, machine_id from process where pid != 0 order by 3"
FACTS = "select count(*) from metadata where name = 'trace_attribute.events'"


def on_another_host(trace, copy):
    """The same events on a host called far, whose wall clock stood LATER_NS later at each."""
    shutil.copytree(trace, copy)
    for directory, _, names in os.walk(copy):
        if "metadata" not in names:
            continue
        path = os.path.join(directory, "metadata")
        with open(path, encoding="utf-8") as text:
            lines = text.read().splitlines(keepends=True)
        for number, line in enumerate(lines):
            if line.startswith("\thostname = "):
                lines[number] = '\thostname = "far \\"away\\"";\n'
            elif line.startswith("\toffset = "):
                lines[number] = f"\toffset = {int(line.split()[-1][:-1]) + LATER_NS};\n"
        with open(path, "w", encoding="utf-8") as text:
            text.writelines(lines)


def machines_in(data):
    """The machine numbers of all packets."""
    found = set()
    for _, packet in fields(data):
        inside = dict(fields(packet))
        found |= machines_in(zlib.decompress(inside[COMPRESSED])) if COMPRESSED in inside else {inside.get(98, 0)}
    return found


def check_manifest(check, archive):
    """What Perfetto's reference of the format demands (its docs/reference/perfetto-manifest.md, v58)."""
    names = archive.getnames()
    text = archive.extractfile("perfetto_manifest.json").read()
    check.ok("readers know a manifest by its begin", text.startswith(b'{"perfetto_manifest"'), text[:40])
    manifest = json.loads(text)["perfetto_manifest"]
    check.equal("its version", manifest["version"], 1)
    declared = {file["path"]: {machine["id"]: machine["name"] for machine in file["machines"]}
                for file in manifest["files"]}
    check.equal("it lists the files", set(declared) | {"perfetto_manifest.json"}, set(names))
    for path, machines in declared.items():
        check.ok(f"{path}: all its machines are declared, none without a name", all(machines.values()) and
                 machines_in(archive.extractfile(path).read()) <= set(machines), machines)
    places = [manifest["trace_time"]]
    for file in manifest["files"]:
        if "clocks" in file:
            clocks = file["clocks"]
            check.ok("a clock is of a machine of its file, and of another than the one it is told by",
                     clocks["machine"] in declared[file["path"]].values() and
                     clocks["machine"] != clocks["sync_to"]["machine"], clocks)
            places += [clocks["sync_to"], {**clocks, "file": file["path"]}]
    for place in places:
        check.ok("clocks are named, of machines that are declared there", place["clock"] == "MONOTONIC" and
                 place["machine"] in declared[place["file"]].values(), place)


def both(check, reader, near, far, tar):
    alone = os.path.join(reader.scratch, "alone.pftrace")
    kymo("export", "-q", near, "-o", alone)
    kymo("export", "-q", near, far, "-o", tar)
    with tarfile.open(tar) as archive:
        names = archive.getnames()
        manifest = json.load(archive.extractfile(names[0]))
        archive.extractall(reader.scratch)
        check_manifest(check, archive)
    check.equal("names", names, ["perfetto_manifest.json", "robot.pftrace", "robot-2.pftrace"])
    files = manifest["perfetto_manifest"]["files"]
    check.equal("the manifest", (manifest["perfetto_manifest"]["version"], [file["path"] for file in files]),
                (1, names[1:]))
    machines = [{machine["id"]: machine["name"] for machine in file["machines"]} for file in files]
    check.ok("hosts have numbers and names", machines[0].keys() == {0} and
             machines[1] == {0: "far__away_", 1: "far__away_"}, machines)
    want = reader.query(alone, SLICES)[0]
    slices, processes, ((facts,),) = reader.query(tar, SLICES, PROCESSES, FACTS)
    check.ok("there are slices", len(want) > 0)
    check.equal("slices of the near host", [row for row in slices if row[0] == 0], want)
    check.equal("slices of the far host", [row[1:] for row in slices if row[0] != 0],
                [[ts + LATER_NS, dur, name] for _, ts, dur, name in want])
    check.ok("one pid on two machines", len(processes) == 2 and processes[0][:2] == processes[1][:2], processes)
    check.ok("facts of each", facts >= 1, facts)
    opened = reader.query(os.path.join(reader.scratch, names[2]), SLICES)[0]
    check.equal("a file of the archive opens alone", len(opened), len(want))


def same_host(check, reader, near, tar):
    """One trace twice, not compressed: the names of the files differ, the host's does not."""
    kymo("export", "-q", "--force", near, near, "--begin", "+0s", "--compress", "none", "-o", tar)
    with tarfile.open(tar) as archive:
        files = json.load(archive.extractfile("perfetto_manifest.json"))["perfetto_manifest"]["files"]
        check_manifest(check, archive)
    check.ok("one host has one name", files[0]["path"] != files[1]["path"] and
             {machine["name"] for file in files for machine in file["machines"]} ==
             {files[0]["machines"][0]["name"]}, files)
    count = len(table(near, "select 1 from spans"))
    (both_of_them,), = reader.query(tar, "select count(*) from slice")
    check.ok("both are there", count > 0 and both_of_them[0] >= 2 * count, (count, both_of_them))


def refused(check, scratch, near, tar):
    before = os.stat(tar)
    empty = os.path.join(scratch, "empty")
    os.mkdir(empty)
    absent, new = os.path.join(scratch, "absent"), os.path.join(scratch, "new.tar")
    for what, status, words in (
            ("a trace that is not there", 3, [near, absent, "-o", new]),
            ("what is no trace", 3, [near, empty, "-o", new]),
            ("standard output", 2, [near, near, "-o", "-"]),
            ("parts", 2, [near, near, "--split", "1M", "-o", new]),
            ("another format", 2, [near, near, "--format", "chrome", "-o", new]),
            ("what is there already", 1, [near, near, "-o", tar])):
        done = run(KYMO, "export", *words, status=None, cwd=scratch)
        check.ok(f"{what}: refused, with a reason", done.returncode == status and
                 done.stderr.startswith("kymo export: "), (done.returncode, done.stderr))
        check.ok(f"{what}: leaves nothing", not os.path.exists(new) and
                 os.stat(tar).st_mtime_ns == before.st_mtime_ns)


def main(check, reader, scratch):
    near, far = (os.path.join(scratch, host, "robot") for host in ("near", "far"))
    os.mkdir(os.path.dirname(near))
    record(near, "-q", "--", os.path.join(BUILD, "cyclic", "cyclic"), "--seconds", "0.2", env=private(scratch))
    on_another_host(near, far)
    tar = os.path.join(scratch, "robots.tar")
    both(check, reader, near, far, tar)
    same_host(check, reader, near, tar)
    refused(check, scratch, near, tar)


with_reader(main)
