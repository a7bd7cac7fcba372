#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""A burst of one thread while the recorder is stopped: the usual ring loses events, the ring of kymo/thread.h none; in C and C++."""
import os
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, SOURCE, accounts, check, compiled, in_directory, private, run, sanitized, status, until

EVENTS = 60000			# of 18 bytes: 1.1 MB, and a thread usually has at most 0.7 MB
C = r"""
#include <kymo/thread.h>
static int prepare(void)
{
	const struct kymo_thread_options options = { .size = sizeof options, .ring_bytes = 2 << 20 };

	return kymo_thread_prepare(&options);
}
"""
CXX = r"""
#include <kymo/kymo.hpp>
static int prepare()
{
	kymo::thread_options options;

	options.ring_bytes = 2 << 20;
	return kymo::prepare_thread(options);
}
"""
BURST = r"""
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __cplusplus
#include <kymo/kymo.hpp>
#else
#include <kymo/kymo.h>
#endif

static int events, larger;

static void *burst(void *unused)
{
	if (larger && prepare() < 0)
		abort();
	for (int64_t i = 0; i < events; i++)
		KYMO_INSTANT("burst", "event", ("i", i));
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	events = argc > 3 ? atoi(argv[2]) : 0;
	larger = argc > 3 ? atoi(argv[3]) : 0;
	while (access(argv[1], F_OK))
		usleep(1000);
	if (pthread_create(&thread, NULL, burst, NULL))
		return 1;
	pthread_join(thread, NULL);
	printf("done\n");
	return 0;
}
"""


def dropped(directory, program, larger):
    """Return: events that a recorder which is stopped meanwhile has lost."""
    name, environment = f"{os.path.basename(program)}-{larger}", private(directory)
    gate, trace = os.path.join(directory, name + ".gate"), os.path.join(directory, name + ".trace")
    with subprocess.Popen([KYMO, "record", "-q", "-o", trace, "--", program, gate, str(EVENTS), str(larger)], env=environment,
                          stdout=subprocess.PIPE, text=True) as recorder:
        until("the program is recorded", lambda: [s for s in status(environment).values() if s["state"] == "record"])
        recorder.send_signal(signal.SIGSTOP)
        until("the recorder is stopped", lambda: open(f"/proc/{recorder.pid}/stat").read().rpartition(")")[2].split()[0] == "T")
        with open(gate, "w", encoding="utf-8"):
            pass
        answer = recorder.stdout.readline()
        recorder.send_signal(signal.SIGCONT)
        recorder.wait()
    check(answer == "done\n" and recorder.returncode == 0, name, "ended with", recorder.returncode)
    totals = accounts(trace)["totals"]
    check(totals["recorded"] + totals["dropped"] == EVENTS, name, "recorded and dropped", totals)
    return totals["dropped"]


def test(directory):
    program = compiled(directory, C + BURST, "-pthread")
    check(dropped(directory, program, 0) > EVENTS // 4, "the usual ring held the burst")
    check(dropped(directory, program, 1) == 0, "C: the larger ring lost events")
    if not sanitized() and shutil.which("c++"):
        with open(directory + "/burst.cpp", "w", encoding="utf-8") as file:
            file.write(CXX + BURST)
        run("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{SOURCE}/include", directory + "/burst.cpp",
            "-o", directory + "/burst-cpp", f"-L{BUILD}/lib", "-lkymo", f"-Wl,-rpath,{BUILD}/lib")
        check(dropped(directory, directory + "/burst-cpp", 1) == 0, "C++: the larger ring lost events")


in_directory(test)
