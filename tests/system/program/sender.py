#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""examples/sender: a sink that a program implements itself sends every event, in order, to a socket; a receiver that goes away costs
events, which are counted, and not the program. The same sink in C++, with a pump."""
import os
import re
import shutil
import socket
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, SOURCE, check, in_directory, private, run, sanitized

SENDER = os.path.join(BUILD, "sender", "sender")
STEPS = 50
CXX = r"""
#include <cstdio>
#include <kymo/kymo.hpp>
#include <kymo/session.h>
#include <kymo/sink.h>

struct counter : kymo::sink_functions {
	bool packet(const kymo_sink_packet &packet) override
	{
		kymo_sink_event event{};

		while (kymo_sink_next(&packet, &event))
			if (!packet.is_facts)
				events++;
		return true;
	}
	void end(const kymo_sink_totals &totals) override { std::printf("%d %d\n", events, int(totals.events)); }
	int events = 0;
};

int main(int, char **argv)
{
	counter count;
	kymo::sink sink("counter", count, true);
	kymo::session session(argv[1]);

	if (!sink || !session || sink.attach(session.get()) < 0)
		return 1;
	for (int i = 0; i < 1000; i++)
		KYMO_INSTANT("cxx", "event", ("i", i));
	if (!session.stop())
		return 2;
	while (sink.pump(100) > 0)
		;
	return 0;
}
"""


def sent(directory):
    with socket.create_server(("127.0.0.1", 0)) as server:
        with subprocess.Popen([SENDER, "127.0.0.1", str(server.getsockname()[1]), str(STEPS)], env=private(directory),
                              stdout=subprocess.PIPE, text=True) as sender:
            connection, _ = server.accept()
            with connection:
                lines = connection.makefile("r", encoding="utf-8").read().splitlines()
            said = sender.stdout.read()
    check(sender.returncode == 0 and said == f"{3 * STEPS} events recorded, 0 dropped\n", "sender says", said, sender.returncode)
    check(lines[0].startswith("begin ") and lines[-1] == f"end {3 * STEPS} events, 0 lost", "it begins and ends with", lines[:1], lines[-1:])
    events = [line for line in lines if re.match(r"\d+ sender/\d+ control:", line)]
    steps = [line for line in events if "control:step_begin" in line]
    check(len(events) == 3 * STEPS, "events:", len(events), lines[:20])
    check([line.rpartition("step=")[2] for line in steps] == [str(n) for n in range(STEPS)], "steps:", steps)
    check([line.rpartition("value=")[2] for line in events if "control:load" in line] == [f"{n * 0.5:g}" for n in range(STEPS)], "loads:", events)
    times = [int(line.split()[0]) for line in events]
    check(times == sorted(times), "events are not in the order of their times")
    for name in ("step_begin", "step_end", "load"):
        first = next(i for i, line in enumerate(lines) if line in events and f" control:{name}" in line)
        check(lines[:first].count(f"class control:{name}") == 1, name, "is not declared before its first event")


def gone(directory):
    """The receiver goes away before it has read anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with subprocess.Popen([SENDER, "127.0.0.1", str(port), str(STEPS)], env=private(directory), stdout=subprocess.PIPE,
                              text=True) as sender:
            connection, _ = server.accept()
            connection.close()
            said = sender.stdout.read()
    check(sender.returncode == 0 and said == f"{3 * STEPS} events recorded, 0 dropped\n", "without a receiver", said, sender.returncode)


def cxx(directory):
    with open(directory + "/sink.cpp", "w", encoding="utf-8") as file:
        file.write(CXX)
    run("c++", "-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", f"-I{SOURCE}/include", directory + "/sink.cpp", "-o",
        directory + "/sink", f"-L{BUILD}/lib", "-lkymo-session", "-lkymo", f"-Wl,-rpath,{BUILD}/lib")
    done = run(directory + "/sink", directory + "/trace", env=private(directory))
    check(done.stdout == "1000 1000\n", "C++ got", done.stdout)


def test(directory):
    if os.path.exists(SENDER):
        sent(directory)
        gone(directory)
    if not sanitized() and shutil.which("c++"):
        cxx(directory)


in_directory(test)
