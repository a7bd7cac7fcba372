#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Sizes and header stamps of messages: of every publication and take what a serializer wrote, byte by byte. With the type supports of
CycloneDDS (introspection; the real one has the same sizes) and Fast DDS, in C and C++, in the layouts of Humble and Jazzy. A middleware that kymo does not know: none."""
import os
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILE, dump, require
from lib_test import BUILD, SOURCE, in_directory, query, record, report, ros_domain, run

TYPES = {"/scan": "test_msgs/msg/Scan", "/speed": "test_msgs/msg/Speed", "/late": "test_msgs/msg/LateScan"}
COLUMNS = "topic_name AS topic, size_bytes AS size, header_stamp_ns AS stamp"


def check(right, *what):
    if not right:
        sys.exit(f"messages.py: {what}")


def compiled(work):
    source = f"{SOURCE}/tests/rclcpp/messages.cpp"
    run(*COMPILE, "-O0", "-DLIBRARY", "-shared", "-o", f"{work}/librmw_implementation.so", source)
    run(*COMPILE, "-O0", "-o", f"{work}/messages", source, f"-L{work}", "-lrmw_implementation",
        f"-L{BUILD}/stub/jazzy/lib", "-ltracetools", "-Wl,--allow-shlib-undefined")
    return f"{work}/messages"


def check_real(work, expected):
    """CycloneDDS itself writes messages of the same size. It gives a message to a reader of its own process without the network."""
    if not shutil.which("idlc") or not os.path.exists("/usr/include/dds/dds.h"):
        print("skipped in part: no CycloneDDS with idlc")
        return
    run("idlc", "-x", "final", f"{SOURCE}/tests/rclcpp/messages.idl", cwd=work)
    run(os.environ.get("CC", "cc"), "-I", work, "-o", f"{work}/messages_dds", f"{SOURCE}/tests/rclcpp/messages_dds.c",
        f"{work}/messages.c", "-lddsc")
    uri = "<General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces><AllowMulticast>false</AllowMulticast></General>"
    said = run(f"{work}/messages_dds", "40", str(ros_domain()), env=dict(os.environ, CYCLONEDDS_URI=uri)).stdout
    sizes = [int(line) for line in said.split()]
    typed = [size for topic, size, _ in expected if topic == "/scan"]
    check(len(sizes) == 40 and sizes == typed, "CycloneDDS", sizes, typed)


def check_messages(trace, said):
    expected = [(topic, int(size), int(stamp) or None) for topic, size, stamp in map(str.split, said.splitlines())]
    for table in ("publications", "messages"):
        rows = query(trace, f"SELECT {COLUMNS} FROM {table} WHERE NOT is_intra ORDER BY publish_ns")
        seen = [(row["topic"], row["size"], row["stamp"]) for row in rows]
        wrong = [pair for pair in zip(seen, expected) if pair[0] != pair[1]]
        check(len(seen) == len(expected) and not wrong, trace, table, len(seen), len(expected), wrong[:3])
    return expected


def check_intra(trace, expected):
    """Within a process, every message of a type of fixed size has that size."""
    size = {size for topic, size, _ in expected if topic == "/speed"}
    rows = query(trace, "SELECT DISTINCT size_bytes AS size FROM publications WHERE is_intra")
    check(len(size) == 1 and {row["size"] for row in rows} == size, trace, rows, size)


def check_types(trace):
    for table, column in (("topics", "name"), ("publishers", "topic_name"), ("subscriptions", "topic_name")):
        rows = query(trace, f"SELECT {column} AS topic, type FROM {table}")
        check({row["topic"]: row["type"] for row in rows} == TYPES, trace, table, rows)


def check_qos(trace):
    """What was asked for, on both sides; a deadline of "never" is none."""
    columns = "reliability, durability, history, deadline_ns, lifespan_ns"
    for table, wanted in (("publishers", ("reliable", "transient_local", "keep_last", None, None)),
                          ("subscriptions", ("best_effort", "volatile", "keep_all", 20_000_000, 1_500_000_000))):
        rows = query(trace, f"SELECT {columns} FROM {table}")
        check(len(rows) == 3 and {tuple(row.values()) for row in rows} == {wanted}, trace, table, rows)


def check_callbacks(trace, expected):
    """Each callback knows when its message was published, and each message was received."""
    rows = query(trace, "SELECT publish_ns FROM callback_instances")
    check(len(rows) == len(expected) and None not in {row["publish_ns"] for row in rows}, trace, len(rows), len(expected))
    takes = [line for line in dump(trace) if ":rmw_take:" in line and "taken = 1" in line]
    check(len(takes) == len(expected), trace, len(takes), len(expected))


def check_report(trace, expected):
    sections = report(trace, "bandwidth", "ages")
    for row in sections["bandwidth"]:
        sizes = [size for topic, size, _ in expected if topic == row["topic"]]
        check((row["published"], row["size_min_bytes"], row["size_max_bytes"], row["bytes"], row["received_bytes"], row["type"]) ==
              (len(sizes), min(sizes), max(sizes), sum(sizes), sum(sizes), TYPES[row["topic"]]), trace, row)
        check(row["bytes_per_second"] > 0, trace, row)
    check(len(sections["bandwidth"]) == 3, trace, sections)
    # The stamps of /late are years old: they are of another clock, and no ages.
    stamped = {"/scan"} if any(stamp and topic == "/scan" for topic, _, stamp in expected) else set()
    check({row["topic"] for row in sections["ages"]} == stamped, trace, sections["ages"])
    rows = query(trace, "SELECT count(*) AS ages, max(abs(callback_start_ns - header_stamp_ns - age_ns)) AS off FROM messages "
                        "WHERE age_ns IS NOT NULL")
    ages = sum(row["count"] for row in sections["ages"])
    check(rows[0]["ages"] == ages and not rows[0]["off"], trace, rows, ages)


def main(work):
    require()
    program = compiled(work)

    def recorded(name, generation, middleware, *options, later=()):
        trace, path = f"{work}/{name}", f"{work}:{BUILD}/stub/{generation}/lib"
        said = record(trace, "-q", *options, "--", "env", f"LD_LIBRARY_PATH={path}", program, middleware, generation, *later).stdout
        return trace, said

    for middleware in ("rmw_cyclonedds_cpp", "rmw_fastrtps_cpp"):
        for generation in ("humble", "jazzy"):
            trace, said = recorded(f"{middleware}-{generation}", generation, middleware)
            expected = check_messages(trace, said)
            if generation != "humble":  # which has no such tracepoint
                check_intra(trace, expected)
            elif middleware == "rmw_cyclonedds_cpp":
                check_real(work, expected)
            check_types(trace)
            check_qos(trace)
            check_report(trace, expected)
            check_callbacks(trace, expected)
    # A tracepoint that later reports lent messages is not recorded twice.
    trace, said = recorded("later", "jazzy", "rmw_fastrtps_cpp", later=["later"])
    check_callbacks(trace, check_messages(trace, said))
    # A type of fixed size without a header needs no event for each message.
    told = [line for line in dump(trace) if "_content:" in line]
    check(len(told) == 2 * 3 * 40, len(told))
    # Only serialized messages have a size with a middleware whose type support is not known.
    trace, _ = recorded("other", "jazzy", "rmw_other_cpp")
    rows = query(trace, "SELECT count(*) AS all_of_them, count(size_bytes) AS sizes, count(header_stamp_ns) AS stamps FROM messages")
    check(rows == [{"all_of_them": 160, "sizes": 40, "stamps": 0}], rows)
    trace, _ = recorded("filtered", "jazzy", "rmw_cyclonedds_cpp", "--topic", "!/scan")
    told = {line.split("rmw_publisher_handle = ")[1].split(",")[0] for line in dump(trace) if "publish_content:" in line}
    check(len(told) == 1, "a topic that is left out was told", told)
    print(f"{len(expected)} messages, largest {max(size for _, size, _ in expected)} bytes")


in_directory(main)
