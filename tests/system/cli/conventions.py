#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, quick
"""What one expects of a tracer's command before one has read its manual: exit statuses, environment variables, directories. One check for each, and
where kymo does otherwise on purpose, the check is that it does, and that the documentation says so (docs/comparison/compare.md).

usage: conventions.py [PATTERN]     only the checks whose name matches"""
import glob
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, SOURCE, until

OWN = ("ROS_TRACE_DIR", "ROS_HOME", "ROS_DOMAIN_ID", "LTTNG_HOME", "LD_PRELOAD", "ASAN_OPTIONS", "XDG_STATE_HOME", "NO_COLOR", "RMW_IMPLEMENTATION",
       "TRACETOOLS_RUNTIME_DISABLE", "OTEL_EXPORTER_OTLP_ENDPOINT")
SESSION = r"session-\d{14}(-\d+)?"

# Two nodes with a topic each, and messages on both. tracetools as ROS 2 has it with TRACETOOLS_TRACEPOINTS_EXCLUDED.
STUB = """void ros_trace_rcl_init(const void *c) { (void)c; }
void ros_trace_rcl_node_init(const void *n, const void *r, const char *name, const char *space) { (void)n, (void)r, (void)name, (void)space; }
void ros_trace_rcl_publisher_init(const void *p, const void *n, const void *r, const char *topic, unsigned long depth)
{ (void)p, (void)n, (void)r, (void)topic, (void)depth; }
void ros_trace_rcl_publish(const void *p, const void *m) { (void)p, (void)m; }
"""
NODE = """#include <stdlib.h>
void ros_trace_rcl_init(const void *);
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_rcl_publisher_init(const void *, const void *, const void *, const char *, unsigned long);
void ros_trace_rcl_publish(const void *, const void *);
static char at[8];
int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 5;
	ros_trace_rcl_init(at);
	ros_trace_rcl_node_init(at + 1, at, "driver", "/");
	ros_trace_rcl_node_init(at + 2, at, "planner", "/");
	ros_trace_rcl_publisher_init(at + 4, at + 1, at, "/scan", 1);
	ros_trace_rcl_publisher_init(at + 5, at + 2, at, "/tf", 1);
	for (int i = 0; i < count; i++)
		ros_trace_rcl_publish(at + 4, at), ros_trace_rcl_publish(at + 5, at);
	return 0;
}
"""

checks = {}
failures = []


def habit(name):
    """Marks a check; each has a place of its own to be run in."""
    def mark(function):
        assert name not in checks, name
        checks[name] = function
        return function
    return mark


class Place:
    """A directory with a program to record, and an environment in which nothing is set."""

    def __init__(self, work):
        self.work = work
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in OWN and not name.startswith(("KYMO_", "CARET_", "LTTNG_"))}
        self.environment.update(HOME=f"{work}/home", KYMO_DIR=f"{work}/run", PATH=f"{BUILD}/bin:{os.environ['PATH']}")
        for name in ("home", "run"):
            os.mkdir(f"{work}/{name}", 0o700)

    def run(self, *words, status=0, **more):
        environment = {**self.environment, **more}
        done = subprocess.run(words, cwd=self.work, env={name: value for name, value in environment.items() if value is not None},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == status, f"{words} ended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr}"
        return done

    def kymo(self, *words, **more):
        return self.run(KYMO, *words, **more)

    def record(self, *words, options=(), **more):
        """Return: the trace's directory, with what was recorded."""
        if "-o" not in options:
            options = ("-o", f"{self.work}/trace", *options)
        self.kymo("record", *options, "--", *(words or ("./node",)), **more)
        return options[options.index("-o") + 1]

    def published(self, trace):
        """How many messages went out on each topic."""
        made = self.kymo("dump", trace).stdout
        topics = dict(re.findall(r'rcl_publisher_init.*?publisher_handle = (\w+).*topic_name = "(\S+)"', made))
        handles = re.findall(r"rcl_publish\b.*?publisher_handle = (\w+)", made)
        return {topic: handles.count(handle) for handle, topic in topics.items()}

    def accounts(self, trace):
        with open(f"{trace}/kymo.json", encoding="utf-8") as file:
            return json.load(file)


def compiled():
    """Return: a directory with ./node and its libtracetools.so."""
    there = tempfile.mkdtemp(prefix="kymo-conventions-")
    for name, text in ("tracetools.c", STUB), ("node.c", NODE):
        with open(f"{there}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    compiler = os.environ.get("CC", "cc")
    for words in (["-shared", "-fPIC", "tracetools.c", "-o", "libtracetools.so"],
                  ["node.c", "-L.", "-ltracetools", f"-Wl,-rpath,{there}", "-o", "node"]):
        subprocess.run([compiler, *words], cwd=there, check=True)
    return there


def text_of(page):
    with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as file:
        return file.read()


def says(page, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text_of(page)), f"docs/{page} does not say {pattern!r}"


# ---- exit statuses ----

@habit("status 0: help that was asked for is on standard output")
def _(place):
    for words in ("help",), ("--help",), ("-h",), ("record", "--help"), ("help", "record"):
        done = place.kymo(*words)
        assert done.stdout.startswith("Usage: kymo") and not done.stderr, words


@habit("status 0: --version tells what is built in")
def _(place):
    assert re.match(r"kymo [\d.]+\n.*verbs: .*built in: ", place.kymo("--version").stdout, re.S)


@habit("status 0: a trace that is read")
def _(place):
    assert "driver" in place.kymo("query", place.record(), "SELECT name FROM nodes").stdout


@habit("status 1: output that cannot be written; doctor: a problem")
def _(place):
    done = place.run("sh", "-c", f"{KYMO} help >/dev/full", status=1)
    assert "cannot write" in done.stderr
    assert "problem" in place.kymo("doctor", "/usr/bin/true", status=1).stdout


@habit("status 2: misuse, told on standard error")
def _(place):
    for words in (), ("no-such-verb",), ("--no-such-option",), ("record", "--no-such-option"), ("record", "--duration", "long"), ("record", "true"):
        done = place.kymo(*words, status=2)
        assert done.stderr and not done.stdout, words
    assert "Usage: kymo" in place.kymo(status=2).stderr


@habit("status 3: no such trace, no trace at all, no such program, no such process")
def _(place):
    for words in ("info", "nowhere"), ("info", "."), ("info",), ("record", "--", "./nothing"), ("run", "--", "nothing-in-path"), \
                 ("doctor", "nothing-in-path"), ("doctor", "-p", "2147483647"):
        assert place.kymo(*words, status=3).stderr, words


@habit("status 4: --strict, when events were lost")
def _(place):
    short = {"KYMO_RING_MEMORY": "16K"}         # too little for a ring
    place.record(**short)
    said = place.kymo("record", "-o", "strict", "--strict", "--", "./node", status=4, **short).stderr
    assert "10 dropped" in said and "10 events were dropped, because their threads got no ring" in said and "slower" not in said, said
    place.kymo("info", "strict")
    place.kymo("info", "--strict", "strict", status=4)


@habit("status 5: report --expect: not as expected")
def _(place):
    with open(f"{place.work}/expected.csv", "w", encoding="utf-8") as file:
        file.write("/scan,100000000\n")
    place.kymo("report", place.record(), "--expect", "expected.csv", status=5)
    told = json.loads(place.kymo("help", "--format", "json").stdout)
    assert "--expect" in next(row["meaning"] for row in told["statuses"] if row["status"] == 5)
    says("cli.md", r"\| 5 \|.*--expect.*--realtime")


@habit("status 6: nothing was traced, nobody records")
def _(place):
    assert "nothing was traced" in place.kymo("record", "--", "true", status=6).stderr
    mistyped = place.kymo("record", "--", f"{BUILD}/cyclic/cyclic", "--mistyped", status=2).stderr
    assert "ended with status 2" in mistyped and "rules" not in mistyped, mistyped
    assert not glob.glob(f"{place.work}/home/.ros/tracing/*"), "a trace of nothing"
    for verb in "stop", "pause", "snapshot":
        assert place.kymo(verb, status=6).stderr, verb


@habit("status of the command: record and run pass it on")
def _(place):
    for verb in "record", "run":
        place.kymo(verb, "--", "sh", "-c", "exit 7", status=7)
    place.record("sh", "-c", "./node; exit 9", status=9)
    assert place.published(f"{place.work}/trace") == {"/scan": 5, "/tf": 5}
    place.kymo("record", "--", "sh", "-c", "kill -TERM $$", status=128 + signal.SIGTERM)
    place.kymo("run", "--", "sh", "-c", "kill -TERM $$", status=-signal.SIGTERM)


@habit("status 130: Ctrl-C ends a recording in order, and a verb that reads by the signal")
def _(place):
    recorder = subprocess.Popen([KYMO, "record"], cwd=place.work, env=place.environment, stderr=subprocess.PIPE, text=True)
    until("the recorder", lambda: json.loads(place.kymo("status", "--format", "json").stdout).get("recorder_pid"))
    recorder.send_signal(signal.SIGINT)
    said = recorder.communicate(timeout=300)[1]
    assert recorder.returncode == 6 and "nothing was traced" in said, (recorder.returncode, said)
    reader = subprocess.Popen([KYMO, "dump", place.record("./node", "5000")], cwd=place.work, env=place.environment, stdout=subprocess.PIPE)
    assert reader.stdout.read(1)                # the rest is more than a pipe takes
    reader.send_signal(signal.SIGINT)
    assert reader.wait(timeout=300) == -signal.SIGINT, reader.returncode
    reader.stdout.close()
    says("cli.md", "Ctrl-C is how a recording is ended", "130")


# ---- environment ----

@habit("ROS_TRACE_DIR, else ROS_HOME/tracing, else ~/.ros/tracing; session-YYYYMMDDHHMMSS; the newest is read")
def _(place):
    for where, more in (("home/.ros/tracing", {}), ("ros/tracing", {"ROS_HOME": f"{place.work}/ros"}),
                        ("traces", {"ROS_HOME": f"{place.work}/ros", "ROS_TRACE_DIR": f"{place.work}/traces"})):
        said = place.kymo("record", "--", "./node", **more).stderr
        made = os.listdir(f"{place.work}/{where}")
        assert len(made) == 1 and re.fullmatch(SESSION, made[0]), (where, made)
        assert f"trace: {place.work}/{where}/{made[0]}\n" in said, said
        assert made[0] in place.kymo("info", **more).stdout, where
        assert sorted(os.listdir(f"{place.work}/{where}/{made[0]}")) == ["kymo.json", "ust"]    # as ros2_tracing has it


@habit("TRACETOOLS_RUNTIME_DISABLE keeps LTTng out; kymo's own switch is KYMO_DISABLE")
def _(place):
    for verb in "record", "run":
        assert "TRACETOOLS_RUNTIME_DISABLE=1\n" in place.kymo(verb, "--", "env", status={"record": 6, "run": 0}[verb]).stdout
    assert "TRACETOOLS_RUNTIME_DISABLE" not in place.kymo("run", "--", "env", KYMO_FORWARD="1").stdout
    for name in "TRACETOOLS_RUNTIME_DISABLE", "TRACETOOLS_DISABLE":
        assert place.published(place.record(options=("-o", f"{place.work}/{name}"), **{name: "1"})) == {"/scan": 5, "/tf": 5}
    assert "nothing was traced" in place.kymo("record", "--", "./node", status=6, KYMO_DISABLE="1").stderr
    says("comparison/compare.md", "`TRACETOOLS_RUNTIME_DISABLE`.*KYMO_DISABLE")


@habit("TRACETOOLS_TRACEPOINTS_EXCLUDED: such a build is recorded; TRACETOOLS_DISABLED: doctor says it")
def _(place):
    assert place.published(place.record()) == {"/scan": 5, "/tf": 5}
    os.makedirs(f"{place.work}/off")
    for words in (["-shared", "-fPIC", "-o", "off/libtracetools.so"], ["-o", "hushed", "-Loff", "-Wl,--no-as-needed,-rpath,off", "-ltracetools"]):
        subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-", "-x", "none", *words], cwd=place.work, check=True, text=True,
                       input="int tracetools_status(void) { return 0; }" if "-shared" in words else "int main(void) { return 0; }")
    assert "TRACETOOLS_DISABLED" in place.kymo("doctor", "./hushed", status=1).stdout


def caret(name, value, wanted):
    @habit(name)
    def _(place):
        assert place.published(place.record(**{name: value})) == wanted


caret("CARET_SELECT_NODES", "nothing:^/dri", {"/scan": 5, "/tf": 0})
caret("CARET_IGNORE_NODES", "nothing:^/dri", {"/scan": 0, "/tf": 5})
caret("CARET_SELECT_TOPICS", "nothing:^/t.$", {"/scan": 0, "/tf": 5})
caret("CARET_IGNORE_TOPICS", "nothing:^/t.$", {"/scan": 5, "/tf": 0})


@habit("ROS_DOMAIN_ID")
def _(place):
    for domain in "7", None:
        trace = place.record(options=("-o", f"{place.work}/{domain}"), ROS_DOMAIN_ID=domain)
        assert [process["ros_domain"] for process in place.accounts(trace)["processes"]] == [int(domain or 0)]


@habit("RMW_IMPLEMENTATION, LTTNG_HOME, LTTNG_UST_*, OTEL_*: the command's; kymo does not read them")
def _(place):
    theirs = {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp", "LTTNG_HOME": f"{place.work}/lttng", "LTTNG_UST_WITHOUT_BADDR_STATEDUMP": "1",
              "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_RESOURCE_ATTRIBUTES": "host.name=robot"}
    for verb in "record", "run":
        seen = place.kymo(verb, "--", "env", status={"record": 6, "run": 0}[verb], **theirs).stdout.splitlines()
        assert {f"{name}={value}" for name, value in theirs.items()} <= set(seen), seen
    assert place.published(place.record(**theirs)) == {"/scan": 5, "/tf": 5}
    assert not os.path.exists(theirs["LTTNG_HOME"])
    says("comparison/compare.md", "`LTTNG_HOME`", "`OTEL_EXPORTER_OTLP_ENDPOINT`", "`RMW_IMPLEMENTATION`")


def on_terminal(place, *words, typed=b"", **more):
    """What the words print on a terminal."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(place.work)
        os.execvpe(words[0], words, {**place.environment, "TERM": "xterm", "KYMO_PAGER": "", **more})
    seen = b""
    try:
        while piece := os.read(terminal, 65536):
            seen += piece
            if typed and b"kymo>" in seen:
                os.write(terminal, typed)
                typed = b""
    except OSError:             # it has ended
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    assert status == 0, (words, status, seen)
    return seen


@habit("NO_COLOR; TERM=dumb; no terminal: no escape sequences")
def _(place):
    trace = place.record()
    assert b"\033[" in on_terminal(place, KYMO, "info", trace)
    assert b"\033[" in on_terminal(place, KYMO, "info", trace, NO_COLOR="")
    for more in {"NO_COLOR": "1"}, {"TERM": "dumb"}:
        assert b"\033" not in on_terminal(place, KYMO, "info", trace, **more), more
    assert "\033" not in place.kymo("info", trace, TERM="xterm").stdout
    # Progress is for terminals, too.
    assert "\r" not in place.kymo("record", "-o", "other", "--", "./node").stderr


@habit("XDG_STATE_HOME, else ~/.local/state: the history of query's prompt")
def _(place):
    if "kymo query: no line editing" in place.kymo("--version").stdout or not os.path.exists("/usr/include/editline/readline.h"):
        return
    trace = place.record()
    for more, where in ({"XDG_STATE_HOME": f"{place.work}/state"}, "state"), ({}, "home/.local/state"):
        on_terminal(place, KYMO, "query", trace, typed=b"SELECT 1;\n\x04", TERM="dumb", **more)
        assert os.listdir(f"{place.work}/{where}/kymo") == ["query_history"]


# ---- directories ----

@habit("/dev/shm/kymo-UID, unless KYMO_DIR chooses another")
def _(place):
    def directory(**more):
        told = json.loads(place.run("sh", "-c", f"{KYMO} doctor --format json || true", **more).stdout)["checks"]
        return " ".join(check["found"] for check in told if check["check"] == "runtime directory")
    assert f"{place.work}/run" in directory()
    assert f"/dev/shm/kymo-{os.geteuid()}" in directory(KYMO_DIR=None)


@habit("share/ament_index, entry points of ros2cli and launch, package format 3, build type cmake")
def _(_place):
    with open(f"{SOURCE}/package.xml", encoding="utf-8") as file:
        package = file.read()
    assert '<package format="3">' in package and "<build_type>cmake</build_type>" in package
    for name in "kymo_ros2", "kymo_py":
        with open(f"{SOURCE}/ros2/{name}/setup.py", encoding="utf-8") as file:
            assert "share/ament_index/resource_index/packages" in file.read(), name
        assert os.path.exists(f"{SOURCE}/ros2/{name}/resource/{name}")
    with open(f"{SOURCE}/ros2/kymo_ros2/setup.py", encoding="utf-8") as file:
        entries = file.read()
    assert "'ros2cli.command'" in entries and "'launch.frontend.launch_extension'" in entries


# ---- what the tables say ----

@habit("options that the pages of the command line name exist; what record can add is not said to be impossible")
def _(place):
    told = json.loads(place.kymo("help", "--format", "json").stdout)["options"]
    options = {"--" + row["option"] for row in told} | {"--help", "--version"}
    theirs = {"--shm-path"}                 # lttng's, in compare.md
    for page in "cli.md", "comparison/compare.md":
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text_of(page))) - theirs
        assert named <= options, (page, named - options)
    missing = text_of("comparison/compare.md").partition("\n## What kymo does not do\n")[2].partition("\n## ")[0]
    recorded = {"--" + row["option"] for row in told if row["verb"] == "record"} & {"--kernel", "--syscalls", "--cycles"}
    assert recorded == {"--kernel", "--syscalls", "--cycles"}
    for option in recorded:
        assert f"`{option}`" in missing, f"compare.md does not say that {option} records it"


@habit("the table of exit statuses, variables and files is that of the documentation")
def _(place):
    told = json.loads(place.kymo("help", "--format", "json").stdout)
    page = text_of("cli.md")
    statuses = page.partition("\n## Exit status\n")[2].partition("\n## ")[0]
    assert [row["status"] for row in told["statuses"]] == [int(number) for number in re.findall(r"^\| (\d+) \|", statuses, re.M)]
    environment = page.partition("\n## Environment\n")[2].partition("\n## ")[0]
    described = {name for line in re.findall(r"^\| (`.*?`) \|", environment, re.M) for name in re.findall(r"`(\w+)", line)}
    named = [row["variable"] for row in told["variables"]]
    assert len(named) == len(set(named)) and set(named) == described, set(named) ^ described
    for section in "1", "7":
        shown = place.kymo("--man", *([] if section == "1" else [section])).stdout.replace("\\-", "-").replace("\\(ti", "~")
        for title, rows, key in ("EXIT STATUS", told["statuses"], "status"), ("ENVIRONMENT", told["variables"], "variable"), \
                                ("FILES", told["files"], "file"):
            part = shown.partition(f".SH {title}\n")[2].partition("\n.SH ")[0]
            assert re.findall(r"^\.TP\n\.B (.*)$", part, re.M) == [str(row[key]) for row in rows], (section, title)


@habit("what the sources read of the environment stands in the table, and is still read")
def _(place):
    told = {row["variable"] for row in json.loads(place.kymo("help", "--format", "json").stdout)["variables"]}
    asked, words = set(), {"SQLITE_TMPDIR"}         # that is SQLite's
    for path in [file for file in glob.glob(f"{SOURCE}/src/**/*.[ch]", recursive=True)] + glob.glob(f"{SOURCE}/ros2/*/kymo*/**/*.py", recursive=True) \
            + [f"{SOURCE}/ros2/kymo_py/kymo.pth"]:
        with open(path, encoding="utf-8") as file:
            code = file.read()
        words |= set(re.findall(r"\b[A-Z][A-Z_]{3,}\b", code))
        asked |= set(re.findall(r'\b(?:getenv|\w+_setting)\("([A-Z_]+)"\)', code)) | set(re.findall(r'"(KYMO_[A-Z_]+)"', code))
    assert len(asked) > 20, asked
    assert asked - told <= {"KYMO_AGENT"}, asked - told          # the agent's own child is told so
    assert told <= words, told - words


# Of other tools: their exit statuses as docs/comparison/compare.md has them, where the version that was measured is installed.
PEERS = [("babeltrace2", "2.0.", [], 0), ("babeltrace2", "2.0.", ["no-such-command"], 1), ("babeltrace2", "2.0.", ["/proc/no/such/trace"], 1),
         ("babeltrace2", "2.0.", ["--no-such-option"], 1), ("babeltrace2", "2.0.", ["--version"], 0),
         ("lttng", "2.13.", [], 1), ("lttng", "2.13.", ["no-such-command"], 2), ("lttng", "2.13.", ["--version"], 0)]


@habit("beside other tools")
def _(place):
    for tool, version, words, status in PEERS:
        if not shutil.which(tool) or version not in subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout:
            continue
        place.run(tool, *words, status=status, LTTNG_HOME=place.work)
    rows = re.findall(r"^\| (\w+)[^|]* \|" + r" ([^|]+) \|" * 5 + "$", text_of("comparison/compare.md").partition("\n## Exit statuses\n")[2], re.M)
    said = {row[0]: row[1:] for row in rows}
    assert said["kymo"][:5] == ("2", "2", "3", "2", "0"), said
    assert said["babeltrace2"][:5] == ("0", "1", "1", "1", "0") and said["lttng"][:2] == ("1", "2"), said


def main():
    there = compiled()
    try:
        for name, check in checks.items():
            if len(sys.argv) > 1 and not re.search(sys.argv[1], name):
                continue
            with tempfile.TemporaryDirectory(prefix="kymo-conventions-") as work:
                os.symlink(f"{there}/node", f"{work}/node")
                try:
                    check(Place(work))
                except Exception as error:                # pylint: disable=broad-except # the others still say something
                    failures.append(name)
                    print(f"FAILED: {name}: {type(error).__name__} {error}")
    finally:
        shutil.rmtree(there)
    print(f"{len(checks) - len(failures)} of {len(checks)} habits")
    return bool(failures)


sys.exit(main())
