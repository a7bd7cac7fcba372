# SPDX-License-Identifier: Apache-2.0
"""For tests of kymo attach: programs that are compiled for them, started without kymo, and their ends."""
import contextlib
import os
import shutil
import signal
import subprocess

from lib_test import BUILD, KYMO, SOURCE, check, run, until

STUB = os.path.join(BUILD, "stub/jazzy/lib")
SOURCES = os.path.join(SOURCE, "tests/attach")
HEADERS = ["-I" + os.path.join(SOURCE, "examples/tracetools-stub"), "-I" + os.path.join(SOURCE, "src")]
TRACETOOLS = [os.path.join(STUB, "libtracetools.so"), "-Wl,-rpath," + STUB]


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


def attach(verb, *words, environment, status=0):
    """Run kymo attach or detach. A program that is busy on a busy machine may have no thread at a safe place for a while: try again,
    for a minute."""
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
            check(process.wait(60) == 0, command, "ended with", process.returncode, told)
        finally:
            if process.poll() is None:
                process.kill()
