#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, kernel
"""`kymo record --stacks`: call stacks of a callback, of a thread and a process that start later and of a plugin, with the names of
their functions; in each chunk; as table, section and flame graph with the same numbers. What the options refuse."""
import base64
import collections
import contextlib
import glob
import gzip
import json
import os
import re
import resource
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_checks
from lib_test import BUILD, KYMO, answer, kymo, lossless, private, query, report, run, skip, until, until_lossless

PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_rcl_timer_init(const void *, long);
void ros_trace_rclcpp_timer_callback_added(const void *, const void *);
void ros_trace_rclcpp_timer_link_node(const void *, const void *);
void ros_trace_callback_start(const void *, _Bool);
void ros_trace_callback_end(const void *);
static long cpu_ns(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
/* So much CPU time, whatever else the machine does; without a call in the loop, most samples are in the function itself. */
#define BURN(name) void name(long ns) { const long end = cpu_ns() + ns; while (cpu_ns() < end) for (volatile int i = 0; i < 100000; i++); }
static BURN(in_callback)
static BURN(in_thread)
static BURN(in_child)
static void sleeps(void) { usleep(3000); }
static void idle(void) { usleep(1000); }	/* libc may have no frame pointers: then the function that calls it is not seen */
static void on_timer(void) { in_callback(20000000); sleeps(); }
static void spin(void)
{
	for (int i = 0; i < 10; i++) {
		idle();
		ros_trace_callback_start((void *)5, 0);
		on_timer();
		ros_trace_callback_end((void *)5);
	}
}
static void *thread(void *unused) { in_thread(60000000); return unused; }
int main(int argc, char **argv)
{
	void (*plugin)(long);
	pthread_t other;
	pid_t child;

	ros_trace_rcl_node_init((void *)2, (void *)3, "node", "/");
	ros_trace_rcl_timer_init((void *)4, 1000000);
	ros_trace_rclcpp_timer_callback_added((void *)4, (void *)5);
	ros_trace_rclcpp_timer_link_node((void *)4, (void *)2);
	usleep(100000);
	if (pthread_create(&other, NULL, thread, NULL) || pthread_join(other, NULL))
		return 1;
	child = fork();
	if (!child) {
		in_child(60000000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	plugin = (void (*)(long))dlsym(dlopen(argv[argc - 1], RTLD_NOW), "in_plugin");
	plugin(60000000);
	spin();
	return 0;
}
"""
PLUGIN = PROGRAM.split("/* So much")[0].split("ros_trace_callback_end(const void *);")[1]
PLUGIN = "#include <time.h>\n" + PLUGIN + "void in_plugin(long ns) { const long end = cpu_ns() + ns; while (cpu_ns() < end) for (volatile int i = 0; i < 100000; i++); }\n"


# A process with more threads than a recorder with few open files can sample.
CROWD = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_callback_start(const void *, int);
void ros_trace_callback_end(const void *);
static void *thread(void *unused) { pause(); return unused; }
int main(int argc, char **argv)
{
	pthread_t one;
	char end;

	ros_trace_rcl_node_init((void *)2, (void *)3, "crowd", "/");
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		if (pthread_create(&one, NULL, thread, NULL))
			return 1;
	for (int i = 0; i < 10; i++) {
		ros_trace_callback_start((void *)5, 0);
		ros_trace_callback_end((void *)5);
	}
	return puts("ready") < 0 || fflush(stdout) || read(0, &end, 1);
}
"""
FILES, LATER = 100, 6


def built(scratch):
    """Return: the command."""
    for name, text in (("program.c", PROGRAM), ("plugin.c", PLUGIN), ("crowd.c", CROWD)):
        with open(os.path.join(scratch, name), "w", encoding="utf-8") as file:
            file.write(text)
    library = os.path.join(BUILD, "stub", "jazzy", "lib")
    flags = ["-O0", "-fno-omit-frame-pointer", "-pthread", "-Wl,--build-id"]
    compiler = os.environ.get("CC", "cc")
    run(compiler, *flags, "-o", "program", "program.c", "-L" + library, "-ltracetools", "-ldl", "-Wl,-rpath," + library, cwd=scratch)
    run(compiler, *flags, "-o", "crowd", "crowd.c", "-L" + library, "-ltracetools", "-Wl,-rpath," + library, cwd=scratch)
    run(compiler, *flags, "-shared", "-fPIC", "-o", "plugin.so", "plugin.c", cwd=scratch)
    return os.path.join(scratch, "program"), os.path.join(scratch, "plugin.so")


def recorded(scratch, name, *options, command, env=None):
    trace = os.path.join(scratch, name)
    done = run(KYMO, "record", "-o", trace, "--stacks", *options, "--", *command, env=dict(private(scratch), **env or {}), status=None)
    if "perf_event_open" in done.stderr or "CAP_PERFMON" in done.stderr and "without the kernel" not in done.stderr:
        skip("call stacks cannot be sampled here: " + done.stderr.splitlines()[0])
    assert done.returncode == 0, done
    lossless("were lost" in done.stderr, "call stacks")
    return trace, done.stderr


def naive(rows):
    """Return: {process: {function: [self, total]}} of stacks, where a function that calls itself counts once."""
    sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for row in rows:
        names = row["stack"].split(";") if row["stack"] else []
        for name in set(names):
            sums[row["pid"]][name][1] += row["duration_ns"]
        if names:
            sums[row["pid"]][names[-1]][0] += row["duration_ns"]
    return sums


def named(rows):
    """Return: the same of the section; functions of one name are added up."""
    sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for row in rows:
        if row["total_ns"]:
            sums[row["pid"]][row["function"]][0] += row["own_ns"]
            sums[row["pid"]][row["function"]][1] = max(row["total_ns"], sums[row["pid"]][row["function"]][1])
    return sums


def stacks(check, scratch):
    trace, said = until_lossless(lambda _: recorded(scratch, "trace%d" % len(glob.glob(scratch + "/trace*")), command=built(scratch)))
    cpu = query(trace, "SELECT * FROM samples WHERE kind = 'cpu'")
    by_leaf = collections.Counter(row["function"] for row in cpu)
    for name in ("in_callback", "in_thread", "in_child", "in_plugin"):
        check.ok(name + " is most of its CPU time", by_leaf[name] > 20, by_leaf)
    check.ok("nobody else's", {row["thread"] for row in cpu} <= {"program"}, {row["thread"] for row in cpu})
    check.ok("callers are around it", any(row["stack"].endswith("main;spin;on_timer;in_callback") for row in cpu), cpu[-1]["stack"])
    check.equal("only the callback's functions are in it", {row["function"] for row in cpu if row["function"].startswith("in_") and row["callback"]},
                {"in_callback"})
    check.ok("samples have a run", all(row["callback_instance_id"] for row in cpu if row["function"] == "in_callback"), "")
    check.equal("the plugin's file", {row["file"] for row in cpu if row["function"] == "in_plugin"}, {"plugin.so"})
    check.equal("two processes", len({row["pid"] for row in cpu if row["function"] in ("in_child", "in_thread")}), 2)

    section = report(trace, "functions")["functions"]
    wanted, found = naive(cpu), named(section)
    check.equal("self and total of the section",
                {pid: {n: found[pid][n] for n in sums if n.startswith("in_")} for pid, sums in wanted.items()},
                {pid: {n: t for n, t in sums.items() if n.startswith("in_")} for pid, sums in wanted.items()})
    check.equal("all self times", sum(row["own_ns"] for row in section), sum(row["duration_ns"] for row in cpu))

    inside = {row["function"]: row for row in report(trace, "callback-functions")["callback-functions"]}
    check.ok("on_timer() has what it calls", inside["on_timer"]["total_ns"] >= inside["in_callback"]["total_ns"] > 0, inside.get("on_timer"))
    check.equal("runs", inside["in_callback"]["runs"], 10)
    check.ok("what is around the callback is not in it", not {"main", "spin"} & set(inside), set(inside))
    if "without the kernel" not in said:
        off = query(trace, "SELECT * FROM samples WHERE kind = 'off_cpu'")
        slept = sum(row["duration_ns"] for row in off if row["callback"] and "sleep" in row["stack"])
        check.ok("it slept in its callback", slept >= 10 * 3000000, slept)
        check.ok("as the section says", inside["on_timer"]["off_cpu_ns"] >= slept or not any("on_timer" in row["stack"] for row in off if row["callback"]),
                 inside["on_timer"])
        check.ok("functions of the kernel", any(row["file"] == "[kernel]" and not row["function"].startswith("0x") for row in off), off[:1])

    told = answer("info", trace)
    check.equal("kymo info has the recorder's counts", (told["stacks_hz"], told["stacks_samples"], told["stacks_lost"]), (997, len(cpu), 0))

    piece = os.path.join(scratch, "piece")
    kymo("export", trace, "--format", "ctf", "--begin", "+150ms", "-o", piece)
    check.ok("a part of the trace has the names", {"in_callback", "in_plugin"} <= {row["function"] for row in query(piece, "SELECT function FROM samples")}, piece)

    folded = os.path.join(scratch, "x.folded")
    kymo("export", trace, "--format", "flamegraph", "--of", "functions", "-o", folded)
    with open(folded, encoding="utf-8") as file:
        lines = [line.rsplit(" ", 1) for line in file.read().splitlines()]
    check.equal("the flame graph's time", sum(int(ns) for _, ns in lines), sum(row["duration_ns"] for row in cpu))
    check.ok("a callback is a frame", any(";/node timer 1 ms;on_timer;in_callback" in stack for stack, _ in lines), lines[:3])
    tree = report(trace, "profile")["profile"]
    check.ok("the tree is of samples", any(row["file"] == "callback" and row["calls"] == 10 for row in tree), tree[:2])
    check.ok("and has no calls of functions", all(row["calls"] is None and row["samples"] for row in section if row["own_ns"]), section[:2])
    kymo("export", trace, "-o", os.path.join(scratch, "page.html"))
    with open(os.path.join(scratch, "page.html"), encoding="utf-8") as file:
        data = json.loads(gzip.decompress(base64.b64decode(max(re.findall(r">([A-Za-z0-9+/=\s]{99,})<", file.read()), key=len))))
    flame = next((flame for flame in data["flames"] if flame["what"] == "samples"), None)
    check.equal("the page's flame graph has the same time", flame and sum(frame[3] for frame in flame["frames"]), sum(row["duration_ns"] for row in cpu))


def chunks(check, scratch):
    trace, _ = until_lossless(lambda _: recorded(scratch, "chunks%d" % len(glob.glob(scratch + "/chunks*")), "--rotate-time", "200ms",
                                                 "--stacks-rate", "2000", command=built(scratch)))
    found = collections.Counter()
    for chunk in glob.glob(os.path.join(trace, "archives", "*")):
        if os.path.isdir(os.path.join(chunk, "stacks")):
            found.update(row["function"] for row in query(chunk, "SELECT function FROM samples WHERE kind = 'cpu'"))
    whole = collections.Counter(row["function"] for row in query(trace, "SELECT function FROM samples WHERE kind = 'cpu'"))
    check.equal("each chunk has the names, and each sample is in one", {n: c for n, c in found.items() if n.startswith("in_")},
                {n: c for n, c in whole.items() if n.startswith("in_")})


def may(what):
    """Return: variables of a user who may sample that (tests/preload/no_perf.c)."""
    return {"LD_PRELOAD": os.path.join(BUILD, "tests", "libno_perf.so"), "KYMO_TEST_PERF": what}


def of_users(check, scratch):
    command = built(scratch)
    done = run(KYMO, "record", "-o", os.path.join(scratch, "refused"), "--stacks", "--", *command, env=dict(private(scratch), **may("none")), status=1)
    check.ok("a refusal says what to do", "setcap cap_perfmon" in done.stderr or "--cap-add PERFMON" in done.stderr, done.stderr)
    check.ok("and nothing is recorded", not os.path.exists(os.path.join(scratch, "refused")), "")
    trace, said = until_lossless(lambda _: recorded(scratch, "user%d" % len(glob.glob(scratch + "/user*")), command=command, env=may("user")))
    check.ok("what is missing", "without the kernel's functions" in said and " waits" in said, said)
    check.equal("only times on the CPU", {row["kind"] for row in query(trace, "SELECT kind FROM samples")}, {"cpu"})
    section = report(trace, "functions")["functions"]
    check.ok("with names", {"in_callback", "in_thread"} <= {row["function"] for row in section}, section[:3])
    check.ok("the time off the CPU is not known", all(row["off_cpu_ns"] is None for row in section), section[:3])
    check.ok("kymo info has no waits", "stacks_samples" in answer("info", trace) and "stacks_waits" not in answer("info", trace), "")


def few_files(check, scratch):
    """The recorder has files left for programs that come later."""
    env, trace, errors = private(scratch), os.path.join(scratch, "few"), os.path.join(scratch, "few.err")
    built(scratch)
    with contextlib.ExitStack() as ends:
        def crowd(threads):
            begun = ends.enter_context(subprocess.Popen([KYMO, "run", "--", os.path.join(scratch, "crowd"), threads], stdin=subprocess.PIPE,
                                                        stdout=subprocess.PIPE, env=env))
            begun.stdout.readline()

        crowd("60")
        with open(errors, "w", encoding="utf-8") as err, \
                subprocess.Popen([KYMO, "record", "--stacks", "-o", trace], stderr=err, env=env,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))) as recorder:
            with open(errors, encoding="utf-8") as said:
                until("the recorder says that it has few files", lambda: "raise the limit (ulimit -n)" in said.read())
            for _ in range(LATER):
                crowd("0")
            recorder.send_signal(signal.SIGINT)
            check.equal("its end", recorder.wait(), 0)
    check.equal("all events of the programs that came later", [answer("info", trace)[key] for key in ("recorded", "dropped")], [20 * LATER, 0])


def refused(check, scratch):
    for words in (("--stacks", "--flight", "3s"), ("--stacks-rate", "20000"), ("--stacks-rate", "0"), ("--stacks", "--relay", "net://localhost")):
        run(KYMO, "record", *words, "--", "true", env=private(scratch), status=2)
    done = run(KYMO, "record", "--stacks", "-o", scratch, "--", "true", env=private(scratch), status=1)
    check.ok("a directory that exists", "already exists" in done.stderr, done.stderr)
    none = os.path.join(scratch, "none")
    run(KYMO, "record", "-q", "-o", none, "--", *built(scratch), env=private(scratch))
    run(KYMO, "record", "--stacks", "-o", none, env=private(scratch), status=1)     # it exists
    check.ok("the section says what to do", "kymo record --stacks" in report(none, "functions", status=6)["why_empty"], none)
    check.equal("no rows", query(none, "SELECT * FROM samples"), [])


with_checks(stacks, chunks, of_users, few_files, refused)
