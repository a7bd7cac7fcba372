#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, plain
"""`kymo why` and `kymo flow` about a loop or a span of one of two processes of one name: their numbers are those of SQL, findings lead to the
process that they name, and where nothing ran the answer says what can be typed."""
import os
import re
import shlex
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import answer, check, compiled, in_directory, query, record, run, KYMO

PROGRAM = r"""
#include <kymo/loop.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
/* OWN OTHER MICROSECONDS: begins when the other one is there, too. */
int main(int argc, char **argv)
{
	struct kymo_loop loop;

	if (argc != 4 || open(argv[1], O_CREAT | O_WRONLY, 0600) < 0)
		return 2;
	while (access(argv[2], F_OK))
		usleep(1000);
	KYMO_LOOP_INIT(&loop, "arm", "step", 2000000, 0);
	for (int i = 0; i < 100; i++) {
		kymo_loop_wait(&loop);
		KYMO_SPAN("arm", "plan", ("i", i));
		if (i == 50)
			usleep((useconds_t)atoi(argv[3]));
	}
	kymo_loop_end(&loop);
	return 0;
}
"""


def empty(trace, verb, operand):
    return " ".join(run(KYMO, verb, trace, operand, status=6).stdout.split())


@in_directory
def main(work):
    trace, program = os.path.join(work, "trace"), compiled(work, PROGRAM)
    record(trace, "-q", "--", "sh", "-c", f"cd {work}; {program} a b 40000 & {program} b a 20000 & wait")
    cycles = query(trace, "SELECT p.pid AS pid, count(*) AS cycles, max(c.end_ns - c.due_ns) AS ns FROM loop_cycles c JOIN processes p ON p.id = c.process_id "
                          "GROUP BY p.pid")
    longest = {row["pid"]: row["ns"] for row in query(trace, "SELECT p.pid AS pid, max(s.duration_ns) AS ns FROM spans s JOIN processes p ON p.id = s.process_id "
                                                       "WHERE s.name = 'plan' GROUP BY p.pid")}
    if not check(len(cycles) == len(longest) == 2, cycles, longest):
        return
    for row in cycles:
        pid = row["pid"]
        loop = answer("why", trace, f"arm:step (program {pid})")
        check([loop["count"], loop["instances"][0]["latency_ns"]] == [row["cycles"], row["ns"]], loop["instances"], row)
        for name in "plan", "arm:plan", "arm:pl*":
            found = answer("why", trace, f"{name} (program {pid})")
            check(found["instances"][0]["latency_ns"] == longest[pid], name, pid, found["instances"], longest)
        flow = answer("flow", trace, f"plan (program {pid})")
        check(flow["spans"][0]["duration_ns"] == longest[pid], "flow:", flow["spans"], longest)
    for name in "step", "arm:plan":
        text = empty(trace, "why", f"{name} (program 1)")
        check(all(f"'{name} (program {pid})'" in text for pid in longest), "what can be typed:", text)
        check(answer("why", trace, name)["instances"], "without a process:", name)
    text = empty(trace, "why", "nobody (program 1)")
    check("no loop or span 'nobody'" in text, "no such name:", text)
    found = [row for row in answer("report", trace, "--section", "findings")["findings"] if row["kind"] != "trust"]
    check(found and all(row["alike"] == 2 for row in found), "findings:", found)
    for row in found:
        words = shlex.split(row["command"])
        pid = int(re.search(r"\(program (\d+)\)$", words[-1])[1])
        told = answer("why", trace, words[-1])
        check(f"({pid})" in told["worst"], words, told["worst"])
    first = answer("why", trace)
    check(first["worst"] == answer("why", trace, shlex.split(found[0]["command"])[-1])["worst"], "the first finding is", found[0], first["worst"])
