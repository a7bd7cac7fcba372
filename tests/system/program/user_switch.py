#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The program's switches and the recorder's: neither undoes the other's, in any order; categories
hold for libraries that come later; spans across a switch nest in the report and in Perfetto."""
import collections
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import Reader, with_checks
from lib_test import KYMO, SHARED, compiled, kymo, private, report, run, stop


# Does what it is told on its standard input, and says so.
PROGRAM = r"""
#include <dlfcn.h>
#include <kymo/kymo.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	char verb[16], what[300];

	while (scanf("%15s %299s", verb, what) == 2) {
		switch (*verb) {
		case 'e': KYMO_INSTANT("test", "event", ("phase", what)); kymo_instant_named("named", what); break;
		case 's': kymo_set_enabled(atoi(what)); break;
		case '+': if (!kymo_set_category(*what == '*' ? NULL : what, true)) puts("full"); break;
		case '-': if (!kymo_set_category(*what == '*' ? NULL : what, false)) puts("full"); break;
		case 'l': {
			void *library = dlopen(what, RTLD_NOW);
			void (*say)(void) = library ? (void (*)(void))dlsym(library, "say") : NULL;

			if (!say)
				return 1;
			say();
			dlclose(library);
			break;
		}
		case 'b': {
			KYMO_SPAN("span", "scope");
			KYMO_BEGIN("span", "by hand");
			kymo_set_enabled(false);
			KYMO_BEGIN("span", "began while off");
			KYMO_INSTANT("test", "must not be there");
			{ KYMO_SPAN("span", "must not be there"); }
			kymo_set_category("span", false);
			kymo_set_enabled(true);
			KYMO_END("span", "began while off");
			KYMO_END("span", "by hand");
			kymo_set_category("span", true);
			{ KYMO_SPAN("span", "after"); }
			break;
		}
		}
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
"""
LIBRARY = """
#include <kymo/kymo.h>
void say(void);
void say(void) { KYMO_INSTANT("late", "loaded"); KYMO_INSTANT("other", "loaded"); }
"""


class Told:
    def __init__(self, path, env):
        self.process = subprocess.Popen([path], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *lines):
        said = []
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            while (answer := self.process.stdout.readline().strip()) != "done":
                if not answer:
                    raise SystemExit(f"the program ended at: {line}")
                said.append(answer)
        return said

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


class Session:
    """A recorder beside the program."""

    def __init__(self, scratch, env):
        self.path = tempfile.mkdtemp(dir=scratch) + "/trace"
        self.env = env
        self.recorder = subprocess.Popen([KYMO, "record", "-o", self.path], env=env, stderr=subprocess.PIPE, text=True)
        while not self.status():
            pass

    def status(self):
        done = run(KYMO, "status", "--format", "json", env=self.env, status=None)
        regions = [name for name in os.listdir(self.env["KYMO_DIR"]) if name.endswith(".region")]
        for name in regions:
            with open(os.path.join(self.env["KYMO_DIR"], name), "rb") as file:
                file.seek(1024 + 128)
                if int.from_bytes(file.read(4), "little") != 3:
                    return False
        return done.returncode == 0 and len(regions) > 0

    def end(self):
        self.recorder.send_signal(signal.SIGINT)
        said = self.recorder.communicate()[1]
        if self.recorder.returncode:
            raise SystemExit(f"record: {said}")
        self.text = run("babeltrace2", self.path, status=None).stdout
        return collections.Counter(re.findall(r'\b(?:phase|name) = "([^"]*)"', self.text))


def orders(check, scratch, tell, env):
    """Switched by the program before, while and after the recorder switches."""
    tell("s 0", "e off_before")
    session = Session(scratch, env)
    tell("e off_while", "s 1", "e on_while", "s 0", "e off_again")
    first = session.end()
    tell("s 1", "e nobody_records")
    session = Session(scratch, env)
    tell("e second")
    stop(session.recorder.pid)
    tell("s 0", "e off_stopped", "s 1", "e on_stopped")
    session.recorder.send_signal(signal.SIGCONT)
    second = session.end()
    check.equal("orders: recorded when both want it", (dict(first), dict(second)),
                ({"on_while": 2}, {"second": 2, "on_stopped": 2}))


def categories(check, scratch, tell, env, library):
    session = Session(scratch, env)
    tell("- late", "l " + library, "+ late", "l " + library)	# other 2, late 1
    tell("- *", "l " + library, "e none", "+ other", "l " + library, "+ *")	# other 3
    tell("- named", "e no_name", "+ named", "e name")
    said = tell(*(f"- category_{i}" for i in range(70)), *(f"+ category_{i}" for i in range(70)))
    seen = session.end()
    check.equal("categories: libraries that come later",
                (len(re.findall("late:loaded", session.text)), len(re.findall("other:loaded", session.text))), (1, 3))
    check.equal("categories: names made at run time", (seen["none"], seen["no_name"], seen["name"]), (0, 1, 2))
    # span, late, other, named and 60 more are remembered; to switch on what is on needs no memory.
    check.equal("categories: too many are refused", len(said), 70 - 60)


def nesting(check, reader, scratch, tell, env):
    session = Session(scratch, env)
    tell("b x", "b x")
    session.end()
    out = os.path.join(scratch, "nesting.pftrace")
    kymo("export", session.path, "-o", out)
    check.equal("nesting: the report finds every span whole",
                sorted((s["name"], s["count"], s["unfinished"]) for s in report(session.path)["spans"]),
                [("after", 2, 0), ("by hand", 2, 0), ("scope", 2, 0)])
    check.ok("nesting: nothing while off", "must not" not in session.text)
    if not reader:
        return
    slices, crossed = reader.query(
        out, "select s.name, p.name from slice s left join slice p on s.parent_id = p.id where s.dur > 0 order by s.ts",
        "select count(*) from slice c join slice p on c.parent_id = p.id where c.ts < p.ts or c.ts + c.dur > p.ts + p.dur")
    check.equal("nesting: in Perfetto", slices,
                2 * [["scope", None], ["by hand", "scope"], ["after", "scope"]])
    check.equal("nesting: slices nest", crossed, [[0]])


def main(check, scratch):
    env = private(scratch)
    os.mkdir(os.path.join(scratch, "library"))
    program, library = compiled(scratch, PROGRAM), compiled(os.path.join(scratch, "library"), LIBRARY, "-shared", "-fPIC")
    reader = Reader(scratch) if os.path.exists(os.path.join(SHARED, "oracles")) else None
    tell = Told(program, env)
    orders(check, scratch, tell, env)
    nesting(check, reader, scratch, tell, env)
    categories(check, scratch, tell, env, library)
    check.equal("the program ends well", tell.end(), 0)


with_checks(main)
