#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: shared, network
"""A program that records itself and sends to a relay, `kymo relay` and lttng-relayd: all of it arrives while the program runs, stays after
kill -9, and at a relay that comes late; a relay that stands still holds up nothing, and what it makes the program lose is counted."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
import lib_send
from lib_numbers import check
from lib_test import compiled

EMITTED = re.compile(r"self:event:.*\{ n = (\d+) \}")
LOST = re.compile(r"WARNING: Tracer discarded (\d+) events?")
# Each line of its input is a request, each line of its output an answer.
PROGRAM = r"""
#include <inttypes.h>
#include <kymo/kymo.h>
#include <kymo/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(void *unused, enum kymo_session_message kind, const char *text)
{
	(void)unused;
	(void)kind;
	fprintf(stderr, "note: %s\n", text);
}

int main(int argc, char **argv)
{
	struct kymo_session_options options = { .size = sizeof options, .message = say, .relay_token_file = getenv("TOKEN"),
		.relay_spool_size = 1 << 20, .relay_patience_ns = argc > 2 ? strtoull(argv[2], NULL, 10) : 0 };
	struct kymo_session_stats stats = { 0 };
	struct kymo_session *session;
	unsigned long n = 0;
	char line[4096], *word;
	int rc = 0;

	setlinebuf(stdout);
	if (argc < 2 || kymo_session_start(argv[1], &options, &session) < 0) {
		fprintf(stderr, "%s\n", kymo_session_error());
		return 1;
	}
	puts("begun");
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		word = strchr(line, ' ') ? strchr(line, ' ') + 1 : line;
		if (line[0] == 'e')
			for (unsigned long i = strtoul(word, NULL, 10); i; i--)
				KYMO_INSTANT("self", "event", ("n", ++n));
		if (line[0] == 'a')
			rc = kymo_session_add_sink(session, word);
		if (line[0] == 'r')
			rc = kymo_session_remove_sink(session, word, &stats);
		if (line[0] == 's')
			rc = kymo_session_stop(session, &stats);
		printf("%" PRIu64 " %" PRIu64 " %s\n", stats.recorded, stats.dropped, rc < 0 ? kymo_session_error() : "");
		if (line[0] == 's')
			return 0;
	}
	return 0;
}
"""


class Program:
    def __init__(self, place, url, patience=0):
        self.errors = tempfile.NamedTemporaryFile()
        self.process = place.start(place.program, url, str(patience), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        begun = self.process.stdout.readline()
        check(begun == "begun\n", "no session: %s", begun or self.said())

    def said(self):
        with open(self.errors.name, encoding="utf-8") as file:
            return file.read()

    def ask(self, request):
        """Return: recorded, dropped, and an error or ""."""
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        check(answer, "%s: the program ended: %s", request, self.said())
        recorded, dropped, error = answer.rstrip("\n").split(" ", 2)
        return int(recorded), int(dropped), error

    def stop(self):
        answer = self.ask("stop")
        self.process.communicate(timeout=300)
        check(self.process.returncode == 0, "it ended with %s: %s", self.process.returncode, self.said())
        return answer, self.said()


def stored(relay, session="walk"):
    """Numbers of the events in all sessions of that name, and how many are missing there."""
    numbers, lost = [], 0
    for path in relay.stored(session):
        done = subprocess.run(["babeltrace2", path], capture_output=True, text=True, timeout=300)
        numbers += map(int, EMITTED.findall(done.stdout))
        lost += sum(map(int, LOST.findall(done.stderr)))
    return numbers, lost


def until_stored(relay, count):
    lib.wait_for(f"{count} events at {relay.name}", lambda: stored(relay)[0] == list(range(1, count + 1)))


def runs_and_dies(kind, place):
    """What was flushed is at the relay while the program runs, and after kill -9."""
    with kind() as relay:
        program = Program(place, relay.url("walk"))
        program.ask("emit 1000")
        until_stored(relay, 1000)
        program.process.kill()
        program.process.wait()
        check(stored(relay) == (list(range(1, 1001)), 0), "after kill -9: %s", stored(relay))


def ends_well(kind, place):
    with kind() as relay:
        program = Program(place, relay.url("walk"))
        program.ask("emit 5000")
        (recorded, dropped, error), said = program.stop()
        check((recorded + dropped, error) == (5000, ""), "%d + %d, %s, %s", recorded, dropped, error, said)
        numbers, lost = stored(relay)
        check((len(numbers), lost) == (recorded, dropped), "stored %d and %d lost, not %d and %d", len(numbers), lost, recorded, dropped)
        check(not os.listdir(place.at("spool")), "the spool is still there")


def comes_late(kind, place):
    """The relay is away, also at the end; the next program finds it and sends both."""
    relay = kind()
    program = Program(place, relay.url("walk"), 1)
    program.ask("emit 1000")
    lib.wait_for("a first try", lambda: "retrying" in program.said())
    (recorded, dropped, error), _ = program.stop()
    check((recorded, dropped) == (1000, 0) and "not known to have stored the last" in error and "with 1000 events" in error, "%s", error)
    with relay:
        program = Program(place, relay.url("next"))
        program.ask("emit 10")
        (recorded, dropped, error), said = program.stop()
        check((recorded, dropped, error) == (10, 0, "") and "are sent as well" in said, "%s: %s", error, said)
        check(stored(relay) == (list(range(1, 1001)), 0), "what was left: %d events", len(stored(relay)[0]))
        check(stored(relay, "next") == (list(range(1, 11)), 0), "the next: %s", stored(relay, "next"))


def until_room(relay, program, emitted):
    """Emit until a new event is stored: the spool has room again. Return: what is emitted then."""
    def one_more():
        nonlocal emitted
        emitted += 1
        program.ask("emit 1")
        return emitted - 1 in stored(relay)[0]
    lib.wait_for("room in the spool", one_more)
    one_more()  # the one before may have found no room, which readers see from the next one on
    return emitted


def stands_still(kind, place):
    """More than spool and rings hold: the program goes on, and its losses are counted here and there."""
    with kind() as relay:
        program = Program(place, relay.url("walk"))
        program.ask("emit 100")
        until_stored(relay, 100)
        relay.pause()
        program.ask("emit 400000")  # 8 MB, and the spool holds 1 MiB
        relay.go_on()
        emitted = until_room(relay, program, 400100)
        (recorded, dropped, error), said = program.stop()
        check(recorded + dropped == emitted and dropped, "%d + %d of %d, %s, %s", recorded, dropped, emitted, error, said)
        numbers, lost = stored(relay)
        check(len(set(numbers)) == recorded, "%d of %d are stored", len(set(numbers)), recorded)
        check(lost == dropped, "%d are counted as lost, %d were dropped", lost, dropped)


def beside_a_trace(kind, place):
    """A sink that comes and goes while the session writes a trace."""
    with kind() as relay:
        program = Program(place, place.at("trace"))
        program.ask("emit 100")
        for request in ("add " + relay.url("walk"), "emit 200", "remove " + relay.url("walk"), "emit 400"):
            answer = program.ask(request)
            check(not answer[2], "%s: %s", request, answer[2])
            if request[0] == "r":
                check(answer[0] == 200, "%s: %s events", request, answer[0])
        check(program.stop()[0] == (700, 0, ""), "the trace is not whole")
        check(stored(relay) == (list(range(101, 301)), 0), "at the relay: %s", stored(relay))


def token(place):
    """A relay that wants a token gets it."""
    place.environment["TOKEN"] = lib_send.token(place, "token", "0123456789abcdef")
    with lib_send.KymoRelay("--token-file", place.at("token")) as relay:
        program = Program(place, relay.url("walk"))
        program.ask("emit 10")
        check(program.stop()[0] == (10, 0, ""), "refused")
        check(len(stored(relay)[0]) == 10, "nothing stored")
    del place.environment["TOKEN"]


def wrong(place):
    """What cannot be is an error, with what to do."""
    for url, words in (("net://", "net://"), ("net://localhost/a/b", "slash"), ("nets://robot/walk", "kymo relay --forward nets://"),
                       ("http://robot/walk", "it begins with net://, as in")):
        done = subprocess.run([place.program, url], env=place.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        check(done.returncode == 1 and words in done.stderr, "%s: %d: %s", url, done.returncode, done.stderr)
    done = subprocess.run([place.program, "net://localhost/walk"], env=dict(place.environment, TOKEN="/none"), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    check(done.returncode == 1 and "/none" in done.stderr, "token: %d: %s", done.returncode, done.stderr)
    program = Program(place, place.at("trace"))
    check("already a sink" in program.ask("add " + place.at("trace"))[2], "twice")
    check("no sink" in program.ask("remove net://localhost/walk")[2], "not a sink")
    program.stop()
    if os.geteuid():
        return
    # A place for the spool that cannot be.
    done = subprocess.run([place.program, "net://localhost/walk"], env=dict(place.environment, KYMO_SPOOL_DIR="/proc/none"),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check(done.returncode == 1 and "/proc/none" in done.stderr, "no spool: %d: %s", done.returncode, done.stderr)


def with_program(test):
    def prepared(place):
        place.program = compiled(place.path, PROGRAM, "-lkymo-session")
        place.environment["KYMO_SPOOL_DIR"] = place.at("spool")
        test(place)
    prepared.__name__ = getattr(test, "__name__", "test")
    return prepared


lib.main("self_relay.py", *map(with_program, [*lib_send.each(runs_and_dies, ends_well, comes_late, stands_still, beside_a_trace), token, wrong]))
