#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""`kymo record --functions` of programs built with -pg and -pg -mfentry: they print what they print alone, whatever leaves their
functions (returns of all kinds, tail calls, long jumps, exceptions, ends of threads, signals, coroutines), and functions that only
return have an end for each begin."""
import os
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_functions import C, CXX, built, calls, compare_ends
from lib_perfetto import with_checks
from lib_test import KYMO, lossless, private, report, run, skip, until_lossless

# Threads that begin, and a real-time thread that begins on the same CPU while one of them does. Only begins() is instrumented.
REAL_TIME = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#define PLAIN __attribute__((no_instrument_function)) static
static int begun, done;
__attribute__((noinline)) void begins(void) { __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST); }
PLAIN void *low(void *p) { begins(); return p; }
PLAIN void *lows(void *p) { pthread_t t; while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) if (!pthread_create(&t, 0, low, 0)) pthread_join(t, 0); return p; }
PLAIN void *urgent(void *p) { usleep(200 + (long)p); begins(); return p; }
__attribute__((no_instrument_function)) int main(void)
{
	struct sched_param priority = { .sched_priority = 10 };
	pthread_attr_t attr; pthread_t l, t; cpu_set_t cpus;
	sched_getaffinity(0, sizeof cpus, &cpus);
	for (int i = 0, kept = 0; i < CPU_SETSIZE; i++) if (CPU_ISSET(i, &cpus) && kept++) CPU_CLR(i, &cpus);
	sched_setaffinity(0, sizeof cpus, &cpus);
	pthread_attr_init(&attr); pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO); pthread_attr_setschedparam(&attr, &priority);
	pthread_create(&l, 0, lows, 0);
	for (long i = 0; i < 200; i++) { if (pthread_create(&t, &attr, urgent, (void *)(i * 7 % 300))) { puts("refused"); _exit(0); } pthread_join(t, 0); }
	__atomic_store_n(&done, 1, __ATOMIC_SEQ_CST); pthread_join(l, 0);
	printf("begun %d\n", begun > 200);
	return 0;
}
"""
def compare(check, scratch, name, text, compiler, *flags):
    program = built(scratch, name, text, compiler, *flags)
    what = " ".join([os.path.basename(compiler), name, *flags])
    alone = run(program, cwd=scratch).stdout

    def once(directory):
        trace = os.path.join(directory, "trace")
        done = run(KYMO, "record", "-o", trace, "--functions", "--", program, env=private(directory), cwd=scratch, status=None)
        lossless("were dropped" in done.stderr)
        check.ok(what + " ends as alone", done.returncode == 0, done)
        check.equal(what + " prints what it prints alone", done.stdout, alone)
        compare_ends(check, trace, name, what)

    until_lossless(once)


def begins_urgently(check, scratch, compiler):
    """A real-time thread waits for a thread of lower priority on the same CPU, and goes on."""
    program = built(scratch, "r", REAL_TIME, compiler, "-O1", "-pg")
    trace = os.path.join(scratch, "urgent")
    done = run("timeout", "-s", "KILL", "60", KYMO, "record", "-o", trace, "--functions", "--", program, env=private(scratch), cwd=scratch, status=None)
    if done.stdout == "refused\n":
        print("no real-time threads here: not tried")
    else:
        check.equal("a real-time thread begins while another thread does", (done.returncode, done.stdout), (0, "begun 1\n"))
        check.ok("the real-time program has events", calls(report(trace, "profile")["profile"])["begins"][0] > 0)


def test(check, scratch):
    c, cxx = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
    if os.uname().machine not in ("x86_64", "aarch64"):
        skip("-pg is recorded on x86-64 and aarch64 only")
    fentry = ("-mfentry",) if os.uname().machine == "x86_64" else ()
    compare(check, scratch, "c", C, c, "-O0", "-pg")
    compare(check, scratch, "c", C, c, "-O2", "-pg", *fentry)
    begins_urgently(check, scratch, c)
    if shutil.which(cxx):
        compare(check, scratch, "x", CXX, cxx, "-O1", "-pg")
        compare(check, scratch, "x", CXX, cxx, "-O2", "-pg", *fentry)


with_checks(test)
