#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: long
"""`kymo top` as a user sees it: with running programs that nobody records, beside a recording, on a trace, on a relay's session; as a
table, as JSON, and on a terminal, whose screen a terminal emulator (pyte) reads."""
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import Relay
from lib_terminal import Terminal, pyte
from lib_test import BUILD, KYMO, TESTS, accounts, check, in_directory, private, query, record, record_robot, robot, run, sanitizer, until


def once(*words, env=None, status=0):
    out = run(KYMO, "top", "--once", "--format", "json", *words, env=env, status=status).stdout
    return json.loads(out) if out else {"nodes": 0, "spans": []}


@contextlib.contextmanager
def running(env, *command):
    """A program of `kymo run`, whose processes are there."""
    program = subprocess.Popen([KYMO, "run", "--", *command], env=env, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        until("the processes", lambda: len(states(env)) == 3)
        yield
    finally:
        os.killpg(program.pid, signal.SIGINT)
        program.wait(300)


def states(env):
    """Return: the state of each process, by name. Not more often than five times a second: each look is a process."""
    time.sleep(0.2)
    done = run(KYMO, "status", "--format", "json", env=env, status=None)
    return {process["name"]: process["state"] for process in json.loads(done.stdout or "{}").get("processes", [])}


def leftovers():
    """Return: traces of `kymo top` in memory that this user has."""
    return {name for name in os.listdir("/dev/shm") if name.startswith("kymo-top.")} if os.path.isdir("/dev/shm") else set()


def is_robot(result, what):
    """Whether @result has what the robot does, as the rates of its source say."""
    callbacks = {(row["callback"], row["source"]): row for row in result["callbacks"]}
    check({"/perception/costmap", "/lidar_driver", "/control/planner"} <= {name for name, _ in callbacks}, what, "has callbacks", callbacks)
    costmap = callbacks.get(("/perception/costmap", "timer 96 ms"), {})
    check(costmap.get("count", 0) > 0 and costmap.get("worst_ns", 0) >= costmap.get("usual_ns", 1) > 0, what, "has costmap", costmap)
    check({"/scan", "/imu"} <= {row["topic"] for row in result["topics"]}, what, "has topics", result["topics"])
    check(any(row["chain"].startswith("/scan -> /obstacles") for row in result["chains"]), what, "has chains", result["chains"])
    threads = {row["process"]: re.sub(".*threads? ", "", row["executor"]).split(", ") for row in result["executors"]}
    check(len(result["executors"]) == 3 and len(threads.get("control", [])) == 3, what, "has executors", result["executors"])
    for row in result["executors"]:
        parts = [part for part in result["executor_threads"] if (part["process"], part["executor"]) == (row["process"], row["executor"])]
        check(sorted(str(part["tid"]) for part in parts) == sorted(threads[row["process"]]) and sum(part["count"] for part in parts) == row["count"],
              what, "executor", row, "has threads", parts)
    check(result["lost"] == 0, what, "lost", result["lost"])


def whole_robot(*words, env=None):
    """Return: what one look shows, as soon as all nodes exist and a message went all the way."""
    def look():
        result = once(*words, "--interval", "1s", env=env, status=(0, 6))
        return result["nodes"] == 9 and len(result["executors"]) == 3 and any(row["chain"].startswith("/scan -> /obstacles") for row in result["chains"]) and result
    return until("all of the robot", look)


def alone(env):
    """Programs that nobody records: they are watched, and are as before afterwards."""
    result = whole_robot(env=env)
    is_robot(result, "running programs")
    check((result["state"], result["processes"], result["nodes"]) == ("watching", 3, 9), "the head is", result)
    check(any(row["cpu"] is not None for row in result["threads"]), "no thread has a CPU time", result["threads"])
    check(set(states(env).values()) == {"wait"}, "afterwards the programs are", states(env))
    pid = next(row["pid"] for row in result["callbacks"] if row["process"] == "driver")
    one = once(str(pid), "--interval", "1s", env=env)
    check({row["process"] for row in one["callbacks"]} == {"driver"} and one["processes"] == 1, "of one process:", one["callbacks"])
    text = run(KYMO, "top", "--once", "--page", "topics", "--node", "/nobody", env=env).stdout
    check("/scan" in text and "Topics" in text, "the page of topics is", text)
    check("Callbacks" not in text and re.search(r"^Findings?|^What stands out", text, re.M), "a text is one page:", text)


def counted(env):
    """Programs that only count: how often, but not how long, and nothing is recorded."""
    def look():
        result = once("--count", "always", "--interval", "1s", env=env)
        return {(row["callback"], row["source"]): row for row in result["callbacks"]}.get(("/perception/costmap", "timer 96 ms")) and result
    result = until("all of the robot", look)
    check((result["state"], result["processes"], result["nodes"], result["lost"]) == ("counting only", 3, 9, 0), "the head is", result)
    check(all(row["count"] > 0 and row["worst_ns"] is row["usual_ns"] is row["busy"] is None for row in result["callbacks"]),
          "callbacks are", result["callbacks"])
    scan = next(row for row in result["topics"] if row["topic"] == "/scan")
    check(scan["count"] > 0 and scan["received_hz"] > 0, "a topic is", scan)
    check(any(row["cpu"] is not None for row in result["threads"]), "no thread has a CPU time", result["threads"])
    check(not result["findings"], "counting found", result["findings"])
    check(set(states(env).values()) == {"wait"}, "afterwards the programs are", states(env))


def counted_spans(directory):
    """Spans and loops of a program of kymo.h alone, which records nothing then: no span begins in a recording that starts."""
    env = private(directory)
    os.makedirs(env["KYMO_DIR"], mode=0o700)
    with subprocess.Popen([os.path.join(BUILD, "cyclic", "cyclic"), "--seconds", "900"], env=env, stdout=subprocess.DEVNULL) as cyclic:
        result = until("spans", lambda: (one := once("--count", "always", "--interval", "500ms", env=env, status=(0, 6)))["spans"] and one)
        rows = {row["span"]: row for row in result["spans"]}
        check(set(rows) == {"loop", "sense", "plan", "act"}, "spans are", result["spans"])
        check(all(row["count"] > 0 and row["worst_ns"] is None and row["process"] == "cyclic" for row in rows.values()), "spans are", rows)
        check((result["state"], result["processes"], result["lost"]) == ("counting only", 1, 0), "the head is", result)
        cyclic.terminate()


def killed(env):
    """However it ends, the programs wait again, and nothing is left."""
    before = leftovers()
    top = subprocess.Popen([KYMO, "top", "--once", "--interval", "1h"], env=env, stdout=subprocess.DEVNULL)
    until("a recording", lambda: set(states(env).values()) == {"record"})
    top.kill()
    top.wait()
    until("the end of the recording", lambda: set(states(env).values()) == {"wait"})
    until("an empty memory", lambda: leftovers() <= before)


def counting_bytes(env):
    """Whether a program of @env counts, without a verb of kymo: those end it (enum kymo_enable of src/abi/region.h)."""
    def page(name):
        with open(os.path.join(env["KYMO_DIR"], name), "rb") as file:
            return os.pread(file.fileno(), 4096, 4096)
    return any(3 in page(name) for name in os.listdir(env["KYMO_DIR"]) if name.endswith(".region"))


def killed_both(env):
    """Killed together with the process that records for it: the next verb lets the programs wait again, the next top removes the trace,
    unless it changed within the last minute: somebody may write it who does not lock it."""
    top = subprocess.Popen([KYMO, "top", "--once", "--count", "always", "--interval", "1h"], env=env, stdout=subprocess.DEVNULL)
    until("counting", lambda: set(states(env).values()) == {"count"})
    with open(f"/proc/{top.pid}/task/{top.pid}/children") as file:
        child = int(file.read())
    for pid in top.pid, child:
        os.kill(pid, signal.SIGSTOP)
    own = next(path for path in map(os.readlink, glob.glob(f"/proc/{child}/fd/*")) if "/kymo-top." in path)
    for pid in top.pid, child:
        os.kill(pid, signal.SIGKILL)
    top.wait()
    until("the end of the child", lambda: not os.path.exists(f"/proc/{child}/fd/0"))  # without files: nobody may have waited for it
    check(counting_bytes(env), "the programs do not count: the test shows nothing")
    check(set(states(env).values()) == {"wait"}, "the programs are", states(env))
    check(not counting_bytes(env), "the programs still count")
    for changed, stays in ((time.time() + 3600, True), (0, False)):
        os.utime(os.path.join(own, "trace"), (changed, changed))
        once("--count", "always", "--interval", "500ms", env=env)
        check(os.path.exists(own) == stays, own, "stays" if not stays else "was removed", "; its trace changed at", changed)


def beside(directory, env):
    """A recording goes on as if nobody looked at it."""
    trace = os.path.join(directory, "beside")
    recorder = subprocess.Popen([KYMO, "record", "-q", "-o", trace], env=env)
    until("the recorder", lambda: set(states(env).values()) == {"record"})
    result = whole_robot(env=env)
    is_robot(result, "beside a recording")
    check((result["state"], result["source"]) == ("recording", trace), "the head is", result["state"], result["source"])
    growing = once(trace, "--interval", "1s", env=env)
    check(growing["state"] == "recording" and growing["callbacks"], "the trace that grows gave", growing)
    check(0 < growing["span_ns"] < 600e9, "the interval has", growing["span_ns"], "ns")
    sinks = json.loads(run(KYMO, "sink", "list", "--format", "json", env=env).stdout)["sinks"]
    check([sink["path"] for sink in sinks] == [trace], "sinks afterwards:", sinks)
    check(set(states(env).values()) == {"record"}, "afterwards the programs are", states(env))
    recorder.send_signal(signal.SIGINT)
    check(recorder.wait(300) == 0, "the recorder ended with", recorder.returncode)
    check(accounts(trace)["ended"] and not accounts(trace)["totals"]["dropped"], "the trace has holes", accounts(trace))
    run(KYMO, "report", trace)


def whole(trace):
    """A complete trace: its numbers are those of SQL."""
    result = once(trace)
    is_robot(result, "a trace")
    check(result["state"] == "complete trace", "the state is", result["state"])
    rows = query(trace, "SELECT node, count(*), max(duration_ns) FROM callback_instances WHERE depth = 0 AND node IS NOT NULL GROUP BY pid, callback_id")
    theirs = sorted((row["node"], row["count(*)"], row["max(duration_ns)"]) for row in rows)
    ours = sorted((row["callback"], row["count"], row["worst_ns"]) for row in once(trace, "--all")["callbacks"])
    check(ours == theirs, "runs and longest runs:", ours, "in SQL:", theirs)
    for page in ("callbacks", "topics", "chains", "executors", "threads"):
        lines = run(KYMO, "top", "--once", "--page", page, "--format", "csv", trace).stdout.splitlines()
        check(sum(line.count(",") for line in lines) > 3, "CSV of", page, lines)


def service_calls(directory, is_whole):
    """Calls of services, whose events only some of the board's analyses ask for: in a trace, and of a program that runs."""
    env, program = private(directory), os.path.join(TESTS, "service_calls")
    os.makedirs(env["KYMO_DIR"], mode=0o700)
    if is_whole:
        trace = os.path.join(directory, "trace")
        record(trace, "--", program, "100", env=env)
        result = once(trace)
        check([row["count"] for row in result["callbacks"] if (row["callback"], row["source"]) == ("/adder", "/add")] == [80], "a trace with calls has", result["callbacks"])
        calls = [row["chain"] for row in result["chains"] if row["chain"].startswith("/add -> ")]
        check(calls, "a trace with calls has the chains", result["chains"])
    with subprocess.Popen([KYMO, "run", "--", program, "1000000000"], env=env, stdout=subprocess.DEVNULL) as caller:
        look = lambda: once("--interval", "500ms", env=env, status=(0, 6))
        try:
            until("calls", lambda: any(row["chain"].startswith("/add -> ") and row["count"] for row in look().get("chains", [])))
        finally:
            caller.terminate()


def relayed(directory):
    """A session of a relay, from now on."""
    os.mkdir(os.path.join(directory, "relayed"))
    env = private(os.path.join(directory, "relayed"), KYMO_RING_SIZE="2M")
    with Relay() as relay:
        sender = subprocess.Popen([KYMO, "record", "-q", "--relay", f"net://127.0.0.1:{relay.control}:{relay.data}/robot", "--",
                                   *robot(900)], env=env, stdout=subprocess.DEVNULL)
        result = whole_robot(f"net://127.0.0.1:{relay.live}/robot")
        is_robot(result, "a session")
        check(result["state"] == "live", "the state is", result["state"])
        sender.send_signal(signal.SIGINT)
        sender.wait(300)


def others(directory, env):
    """Recorders and other tops come and go, and the screen goes on."""
    top = Terminal(KYMO, "top", "--interval", "300ms", env=env)
    top.shows("nobody", r"3 processes, 9 nodes · watching")
    check(once("--interval", "300ms", env=env)["state"] == "watching", "a second top is a recording")
    trace = os.path.join(directory, "others")
    recorder = subprocess.Popen([KYMO, "record", "-q", "-o", trace], env=env)
    until("a recorder", lambda: os.path.isdir(trace) or recorder.poll() is not None)
    top.shows("the recording", r"3 processes, 9 nodes · recording others")
    rows = top.shows("rows", r"^[!> ] /perc\S+ timer 96 ms +\d")
    run(KYMO, "stop", env=env)
    check(recorder.wait(300) == 0, "the recorder ended with", recorder.returncode)
    top.shows("nobody again", r"3 processes, 9 nodes · watching")
    check(rows and top.end() == 0, "q did not end it well")
    check(accounts(trace)["ended"] and accounts(trace)["totals"]["recorded"] > 0, "the recording has", accounts(trace)["totals"])


def screen(env):
    """The screen of running programs, and what the keys do."""
    top = Terminal(KYMO, "top", "--interval", "300ms", env=env)
    top.shows("head", r"^kymo top · 3 processes, 9 nodes · watching \(c: count\) · 0\.3 s")
    top.shows("row", r"^[!> ] /perception\S+ +timer 96 ms|^[!> ] /perc\S+ timer 96 ms +\d")
    top.shows("foot", r"^1 callbacks 2 topics 3 chains 4 executors 5 threads 6 spans .* \? help$")
    check(all(len(line) <= 80 for line in top.text().splitlines()), "a row is too long:\n" + top.text())
    top.keys("2")
    top.shows("topic", r"^[!> ] /scan +\d")
    top.keys("N")
    top.shows("order by name", r"\^TOPIC[^\n]*\n[!> ] /battery")
    top.keys("i")
    top.shows("order the other way round", r"vTOPIC[^\n]*\n[!> ] /scan")
    top.keys("/ima")
    top.shows("no row", "no row has this text")
    top.keys("\x7fu\r")
    top.shows("filtered rows", r"TOPIC[^\n]*\n[!> ] /imu[^\n]*\n *\n")
    top.keys("\x1b")
    top.shows("all rows", r"/imu[^\n]*\n[!> ] /cmd_vel|/odom[^\n]*\n")
    top.keys("3")
    top.shows("chain", r"^[!> ] /scan → /obstacles|^[!> ] /scan ")
    top.keys("5")
    top.shows("threads with their CPU", r"THREAD +vCPU.*\n(.*\n)*?[!> ] \w+ +\d+\.\d %")
    top.keys("1f")
    top.shows("freeze", r"frozen")
    top.keys("f/costmap\r")
    top.shows("only costmap", r"CALLBACK[^\n]*\n[!> ] /perc[^\n]*costmap")
    top.keys("\r")
    top.shows("answer of why", r"Why +/perception/costmap")
    top.shows("its parts", r"executing +/percep")
    top.keys("x?")
    top.shows("help", r"^Keys\n.*Pages +1 callbacks")
    top.keys("x\x1bc")
    top.shows("counting", r"nodes · counting \(c: durations\)")
    top.shows("only rates", r"^[!> ] /control\S+ timer 1 ms +[\d,.]+ .* - +")
    check(" count " in run(KYMO, "status", env=env).stdout, "the status is", run(KYMO, "status", env=env).stdout)
    top.keys("c")
    top.shows("durations again", r"nodes · watching")
    top.resize(50, 200)
    top.shows("columns of a wide terminal", r"CALLBACK .* PROCESS +PID +LAST 60")
    top.resize(5, 20)
    top.shows("tiny screen", r"kymo top")
    check(top.end() == 0, "q did not end it well")
    check(set(states(env).values()) == {"wait"}, "afterwards the programs are", states(env))


def screen_of_a_trace(trace):
    top = Terminal(KYMO, "top", trace, env=dict(os.environ, LC_ALL="C", NO_COLOR="1"))
    top.shows("head", r"^kymo top - 3 processes, 9 nodes - \S+ - ")
    top.shows("bars over time in ASCII", r"OVER TIME\n[!> ] .*[_.:=+*#-]{8}$")
    check(top.text().isascii(), "not ASCII:\n" + top.text())
    os.kill(top.pid, signal.SIGTERM)
    check(top.end(None) == 0, "SIGTERM did not end it well")


def early(directory):
    """Before the robot: top waits for programs."""
    env = private(directory)
    os.makedirs(env["KYMO_DIR"], mode=0o700)
    top = Terminal(KYMO, "top", "--interval", "300ms", env=env)
    top.shows("note", "waiting for programs|runs? without kymo")
    with running(env, *robot(900)):
        top.shows("programs", r"^kymo top · 3 processes, 9 nodes")
        check(top.end() == 0, "q did not end it well")


def program(directory):
    """A program of kymo.h alone, which begins after top: its spans come first."""
    env = private(directory)
    os.makedirs(env["KYMO_DIR"], mode=0o700)
    top = Terminal(KYMO, "top", "--interval", "300ms", env=env)
    top.shows("note", "waiting for programs|runs? without kymo")
    cyclic = subprocess.Popen([os.path.join(BUILD, "cyclic", "cyclic"), "--seconds", "900"], env=env, stdout=subprocess.DEVNULL)
    top.shows("a span", r"vWORST.*\n[!> ] \w+ .* \d")
    top.shows("the page", r"^ +SPAN ")
    spans = until("spans", lambda: once("--page", "spans", env=env, status=(0, 6))["spans"])
    check(spans and all(row["count"] > 0 and row["process"] == "cyclic" for row in spans), "spans are", spans)
    check("loop_sleep" not in [row["span"] for row in spans], "sleep is shown as work", spans)
    top.keys("c")
    top.shows("counting", r"counting \(c: durations\)")
    top.shows("a span without durations", r"^[!> ] plan +cyclic +[\d,]+ +- +-")
    top.keys("c")
    top.shows("durations again", r"^[!> ] plan +cyclic +\d[\d,.]* +\d")
    top.keys("\r")
    top.shows("answer of why", r"Why:? +\S*cyclic|^Worst: (loop|span) cyclic:")
    top.keys("x")
    check(top.end() == 0, "q did not end it well")
    cyclic.terminate()
    cyclic.wait(300)


def refused(directory, trace):
    os.mkdir(os.path.join(directory, "nobody"))
    env = private(os.path.join(directory, "nobody"))
    for words, status, text in ((["--once"], 6, "nothing to show: "), (["--once", "999999999"], 6, "kymo run"),
                                ([trace], 2, "--once"), (["--once", "--interval", "1ms"], 2, "100ms"),
                                (["--once", os.path.join(directory, "nothing")], 3, "nothing"),
                                (["--format", "json"], 2, "--once"), (["--once", "net://127.0.0.1"], 2, "kymo live"),
                                (["--once", trace, trace], 2, "unexpected")):
        done = run(KYMO, "top", *words, env=env, status=status, stdin=subprocess.DEVNULL)
        check(text in done.stderr, words, "printed", done.stderr)


def test(directory):
    env = private(directory, KYMO_RING_SIZE="2M")
    trace = os.path.join(directory, "trace")
    has_threads_only = sanitizer() == "thread"  # of a trace that is complete, one thread reads
    record_robot(trace, 2)
    if not has_threads_only:
        whole(trace)
        refused(directory, trace)
    relayed(directory)
    in_directory(counted_spans)
    in_directory(lambda other: service_calls(other, not has_threads_only))
    with running(env, *robot(900)):
        alone(env)
        counted(env)
        killed(env)
        killed_both(env)
        beside(directory, env)
        if pyte:
            screen(env)
            others(directory, env)
    if pyte:
        if not has_threads_only:
            screen_of_a_trace(trace)
        in_directory(early)
        in_directory(program)
    else:
        print("skipped in part: the screen needs python3-pyte")


in_directory(test)
