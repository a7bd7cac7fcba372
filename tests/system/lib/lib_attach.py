# SPDX-License-Identifier: Apache-2.0
"""For tests of kymo attach: programs that are compiled for them, started without kymo, and their ends."""
import contextlib
import os
import shutil
import signal
import subprocess

from lib_test import BUILD, KYMO, SOURCE, check, query, run, until

STUB = os.path.join(BUILD, "stub/jazzy/lib")
SOURCES = os.path.join(SOURCE, "tests/attach")
HEADERS = ["-I" + os.path.join(SOURCE, "examples/tracetools-stub"), "-I" + os.path.join(SOURCE, "src")]
TRACETOOLS = [os.path.join(STUB, "libtracetools.so"), "-Wl,-rpath," + STUB]


# What a trace knows of the objects of its programs.
NODE = "LEFT JOIN nodes n ON n.id = x.node_id"
MEMBERS = {"timers": "period_ns", "subscriptions": "topic_name", "services": "service_name"}
TABLES = {
    "nodes": "SELECT full_name FROM nodes x",
    "publishers": f"SELECT t.name, n.full_name, depth, gid <> '' AS gid FROM publishers x JOIN topics t ON t.id = topic_id {NODE}",
    "subscriptions": f"SELECT t.name, n.full_name, depth FROM subscriptions x JOIN topics t ON t.id = topic_id {NODE}",
    "timers": "SELECT node, period_ns FROM timers",
    "services": "SELECT node, service_name FROM services",
    "clients": "SELECT node, service_name, gid <> '' AS gid FROM clients",
    "callbacks": "SELECT kind, label, is_intra FROM callbacks",
    "symbols": "SELECT label, is_intra, raw_symbol FROM callbacks",
    "executors": "SELECT type FROM executors",
    "groups": "SELECT x.type, e.type AS executor, " + ", ".join(
        f"(SELECT group_concat({name}) FROM (SELECT {name} FROM {table} m WHERE m.callback_group_id = x.id ORDER BY 1)) AS {table}"
        for table, name in MEMBERS.items()) + " FROM callback_groups x LEFT JOIN executors e ON e.id = executor_id",
}


def compile_all(directory, *flags):
    """Compile load, plugin.so and throw into @directory. Return: their paths by name."""
    made = {name: os.path.join(directory, name) for name in ("load", "plugin.so", "throw")}
    cc, cxx = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
    run(cc, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", *HEADERS, *flags, "-o", made["load"],
        os.path.join(SOURCES, "load.c"), *TRACETOOLS)
    run(cc, "-std=gnu11", "-O1", "-fPIC", "-shared", *HEADERS, "-o", made["plugin.so"], os.path.join(SOURCES, "plugin.c"), *TRACETOOLS)
    if shutil.which(cxx):
        run(cxx, "-std=c++17", "-O1", "-pthread", "-o", made["throw"], os.path.join(SOURCES, "throw.cpp"), *TRACETOOLS)
    else:
        del made["throw"]
    return made


def compile_late(directory):
    """Compile tests/rclcpp/late.cpp, and the library that stands for librcl and librclcpp. Return: the program."""
    source, cxx = f"{SOURCE}/tests/rclcpp/late", os.environ.get("CXX", "c++")
    flags = ("-std=c++17", "-fPIC", "-Wall", "-Wextra", "-Werror", *HEADERS)
    run(cxx, *flags, "-shared", "-o", f"{directory}/libros.so", source + "_library.cpp", source + "_static.cpp", *TRACETOOLS)
    run(cxx, *flags, "-o", f"{directory}/late", source + ".cpp", f"-L{directory}", "-lros", *TRACETOOLS,
        f"-Wl,-rpath,{directory}:{STUB}", "-pthread")
    return f"{directory}/late"


def setuid_of(directory, program):
    """Return: a copy of @program that runs as another user. Root's."""
    copy = os.path.join(directory, "setuid")
    shutil.copy(program, copy)
    os.chown(copy, 1, 1)
    os.chmod(copy, 0o4755)
    return copy


def attach(verb, *words, environment, status=0):
    """Run kymo attach or detach. A program that is busy on a busy machine may have no thread at a safe place for a while: try again,
    for five minutes."""
    def one():
        done = run(KYMO, verb, *words, env=environment, status=None)
        return None if done.stderr.endswith("try again\n") else done

    done = until("a thread at a safe place", one)
    assert done.returncode in (status if isinstance(status, tuple) else (status,)), done
    return done


@contextlib.contextmanager
def begun(*command, **options):
    """A program that prints "begun"; at the end of the `with` it has to end by SIGTERM with status 0."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            line = process.stdout.readline()
            assert line == "begun\n", (command, line)
            yield process
            process.send_signal(signal.SIGTERM)
            told = process.stdout.read()
            check(process.wait(300) == 0, command, "ended with", process.returncode, told)
        finally:
            if process.poll() is None:
                process.kill()


def named(trace):
    return {name: {tuple(row.values()) for row in query(trace, sql)} for name, sql in TABLES.items()}


def shares(twin, found):
    """Return: for each table how many rows of the twin were found, and how many it has. What the twin does not have must not exist."""
    for name in TABLES:
        wrong = {row for row in found[name] - twin[name] if None not in row}
        check(not wrong, "the twin has no such", name, wrong)
    return {name: (len(twin[name] & found[name]), len(twin[name])) for name in TABLES}


def won(found):
    return ", ".join(f"{have} of {of} {name}" for name, (have, of) in found.items() if of)
