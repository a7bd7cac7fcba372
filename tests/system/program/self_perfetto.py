#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: shared
"""A program that records itself into a Perfetto file: a real trace processor reads all of it, while the program runs, after kill -9, and
at its end; files come and go as sinks."""
import os
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_reader
from lib_test import compiled, private, run, until

PROGRAM = r"""
#include <kymo/kymo.h>
#include <kymo/session.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *other(void *unused)
{
	kymo_thread_name("helper");
	for (int i = 0; i < 100; i++) {
		KYMO_SPAN("work", "help", ("flow", (uint64_t)7000 + i));
		kymo_instant_named("named", "tick");
	}
	return unused;
}

int main(int argc, char **argv)
{
	struct kymo_session_stats stats;
	struct kymo_session *session;
	pthread_t thread;
	uint64_t track;

	if (argc < 3 || kymo_session_start(argv[1], NULL, &session) < 0) {
		fprintf(stderr, "%s\n", kymo_session_error());
		return 1;
	}
	track = kymo_track("wheel", 0);
	for (int i = 0; i < 1000; i++) {
		KYMO_SPAN("control", "step", ("step", i), ("note", "a text"));
		KYMO_COUNTER("control", "load", i * 0.5);
		KYMO_COUNTER("control", "depth", i);
		if (i < 100)
			KYMO_INSTANT("control", "sent", ("flow", (uint64_t)7000 + i));
		KYMO_BEGIN("wheel", "turn", ("track", track));
		KYMO_END("wheel", "turn", ("track", track));
	}
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	if (!strcmp(argv[2], "wait")) {
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
	if (!strcmp(argv[2], "both") && (kymo_session_add_sink(session, argv[3]) < 0 || kymo_session_remove_sink(session, argv[1], &stats) < 0))
		return 2;
	KYMO_INSTANT("control", "last");
	if (kymo_session_stop(session, &stats) < 0) {
		fprintf(stderr, "%s\n", kymo_session_error());
		return 3;
	}
	printf("%lu %lu\n", stats.recorded, stats.dropped);
	return 0;
}
"""
SLICES = "select category, name, count(*) from slice where name != 'last' group by 1, 2 order by 1, 2"
COUNTERS = ("select t.name, count(*), max(value) from counter c join counter_track t on c.track_id = t.id "
            "group by 1 order by 1")
FLOWS = "select count(*) from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id where a.name = 'sent' and b.name = 'help'"
PLACES = ("select distinct s.name, t.name from slice s join thread_track k on s.track_id = k.id join thread t using (utid) where s.name != 'last' "
          "union select distinct s.name, k.name from slice s join process_track k on s.track_id = k.id order by 1")
ARGS = "select min(extract_arg(arg_set_id, 'debug.step')), max(extract_arg(arg_set_id, 'debug.step')), max(extract_arg(arg_set_id, 'debug.note')) from slice where name = 'step'"
WHOLE = [[["control", "sent", 100], ["control", "step", 1000], ["named", "tick", 100], ["wheel", "turn", 1000], ["work", "help", 100]],
         [["depth", 1000, 999], ["load", 1000, 499.5]], [[100]],
         [["help", "helper"], ["sent", "program"], ["step", "program"], ["tick", "helper"], ["turn", "wheel"]], [[0, 999, "a text"]]]


def content(reader, path):
    return reader.query(path, SLICES, COUNTERS, FLOWS, PLACES, ARGS)


def killed(check, reader, program, environment, path):
    """Return: nothing. What was flushed is in the file of a program that runs, and stays there when it is killed."""
    with subprocess.Popen([program, path, "wait"], env=environment, stdout=subprocess.PIPE, text=True) as running:
        try:
            check.equal("the program has emitted all", running.stdout.readline(), "ready\n")
            until("all is in the file", lambda: content(reader, path) == WHOLE)
        finally:
            running.kill()
    check.equal("a file after kill -9", content(reader, path), WHOLE)


def test(check, reader, directory):
    program, environment = compiled(directory, PROGRAM, "-lkymo-session"), private(directory)
    path, second = os.path.join(directory, "x.pftrace"), os.path.join(directory, "y.perfetto-trace")
    check.equal("events", run(program, path, "run", env=environment).stdout, "6401 0\n")
    check.equal("a whole file", content(reader, path), WHOLE)
    check.equal("its last event", reader.query(path, "select count(*) from slice where name = 'last'"), [[[1]]])
    again = run(program, path, "run", env=environment, status=None)
    check.ok("a file that exists is left alone", again.returncode == 1 and "x.pftrace" in again.stderr and "exists" in again.stderr, again)
    check.equal("and not changed", content(reader, path), WHOLE)
    nowhere = run(program, directory + "/none/x.pftrace", "run", env=environment, status=None)
    check.ok("no directory", nowhere.returncode == 1 and "No such file" in nowhere.stderr, nowhere)
    os.unlink(path)
    check.equal("events of both", run(program, path, "both", second, env=environment).stdout, "6401 0\n")
    check.equal("the first file", content(reader, path), WHOLE)
    check.equal("the second file", reader.query(second, "select name from slice"), [[["last"]]])
    os.unlink(path)
    killed(check, reader, program, environment, path)


with_reader(test)
