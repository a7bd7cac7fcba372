#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, quick
"""What verbs print on a terminal: no row is wider than the terminal, what is left out is counted and --wide has it, colours are used as they
were asked for, and the pager runs for long texts only and leaves nothing behind. The terminal is a pty of a fixed size."""
import fcntl
import glob
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SHARED, answer, check, in_directory, private, until

TRACE = os.path.join(SHARED, "data/ros2-traces/pair_basic_st")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
VERBS = [("report",), ("report", "--all"), ("why",), ("flow",), ("events",), ("info",), ("query", "SELECT * FROM callbacks"), ("query", "--schema"),
         ("dump", "-n", "40"), ("doctor",), ("ls",), ("help",), ("report", "--help")]


class Terminal:
    """A command on a terminal of @rows and @columns. No pager, unless @more names one."""

    def __init__(self, place, size, *words, **more):
        environment = {**place, "TERM": "xterm", "LC_ALL": "C.UTF-8", "KYMO_PAGER": "", "PATH": os.environ["PATH"], **more}
        for name in ("COLUMNS", "LINES", "LESS", "PAGER", "NO_COLOR"):
            if name not in more:
                environment.pop(name, None)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            os.execve(KYMO, [KYMO, *words], environment)
        self.data = b""

    def read(self, text=None):
        """Read until @text has come, or to the end."""
        while text is None or text.encode() not in self.data:
            try:
                more = os.read(self.fd, 65536)
            except OSError:     # the other end was closed
                more = b""
            if not more:
                check(text is None, f"'{text}' did not come, but:", self.data[-2000:])
                break
            self.data += more
        return self

    def type(self, keys):
        os.write(self.fd, keys.encode())
        return self

    def end(self):
        """Return: the exit status, or minus the signal; and what was printed."""
        self.read()
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status), self.data.decode().replace("\r\n", "\n")


def lines_of(text):
    """The lines as they are seen: progress that was erased is none."""
    return [line.split("\r")[-1] for line in ESCAPE.sub("", text).split("\n")]


def operands(words):
    return words if words[0] in ("doctor", "ls", "help") or words[-1].startswith("--help") or "--schema" in words else (words[0], TRACE, *words[1:])


def fits(place):
    for size in (24, 80), (50, 200), (24, 40):
        for words in VERBS if size[1] == 80 else VERBS[:7]:
            _, text = Terminal(place, size, *operands(words)).end()
            # A word or a command that is longer than a line stays whole, so that it can be copied.
            wide = [line for line in lines_of(text) if len(line) > size[1] and not re.match(r" *`?kymo [a-z]+ .*$", line) and
                    (size[1] > 40 or not re.match(r" *\S+$", line))]
            check(not wide or "help" in " ".join(words) and size[1] < 80, words, "at", size, "has rows that are too wide:", wide[:2])
            check(len(text) > 60, words, "printed nothing:", text)


def uses_room(place):
    """The first screen of the report has as many rows and as whole names as the terminal has room for."""
    def rows_of(size):
        lines = lines_of(Terminal(place, size, "report", os.path.basename(TRACE)).end()[1])
        check(len(lines) - 1 <= size[0], "report at", size, "has", len(lines) - 1, "lines")
        begin = next(i for i, line in enumerate(lines) if line.startswith("Callbacks "))
        return lines[begin + 1:lines.index("", begin)]
    here = os.getcwd()
    os.chdir(os.path.dirname(TRACE))    # a long path takes lines of the screen
    small, large = rows_of((24, 80)), rows_of((50, 200))
    os.chdir(here)
    check(2 <= len(small) < len(large) == 5, "rows of callbacks:", small, large)
    check(not any("..." in row or "…" in row for row in large), "names are cut where there is room:", large)


def first_screens(place):
    """The first screen of a report stands on 24 lines with the prompt behind it, whatever there is to say; what is of neither ROS 2 nor
    kymo.h has no empty tables, and what doctor finds in order has a line each."""
    traces = sorted(glob.glob(os.path.join(SHARED, "data/ros2-traces/*/")) + glob.glob(os.path.join(SHARED, "data/lttng-captures/*-output")))
    for trace in traces:
        status, text = Terminal(place, (24, 80), "report", trace).end()
        lines = lines_of(text)
        check(status in (0, 3, 6) and len(lines) <= 24, "report", trace, "ends with", status, "and has", len(lines) - 1, "lines:", text)
        check(status != 6 or "(none)" not in text, "report of", trace, "has empty tables:", text)
    _, text = Terminal(place, (24, 80), "doctor").end()
    in_order = [line for line in lines_of(text) if line.startswith("ok  ")]
    check(in_order and lines_of(text)[-2].endswith("--all shows everything that was found."), "doctor:", text)
    _, whole = Terminal(place, (24, 80), "doctor", "--all").end()
    check("Check  " in lines_of(whole)[0] and "--all shows" not in whole, "doctor --all:", whole)


def live_lines(place):
    """Events that `kymo live` prints end at the edge of the screen; --wide and a pipe have them whole, as `kymo dump`."""
    trace = os.path.join(TRACE, "ctf")
    _, narrow = Terminal(place, (24, 80), "live", trace).end()
    _, wide = Terminal(place, (24, 80), "live", trace, "--wide").end()
    piped = subprocess.run([KYMO, "live", trace], env=place, capture_output=True, text=True, check=True).stdout
    check(max(map(len, piped.split("\n"))) > 80, "no event is wider than a screen")
    check(lines_of(narrow) == [line[:80] for line in piped.split("\n")], "live prints", narrow[:2000])
    check(lines_of(wide) == piped.split("\n"), "live --wide prints", wide[:2000])


def stays(place):
    """`kymo live --top` takes the screen and no more; what there is no room for are its last tables."""
    tables = []
    for size in (24, 80), (50, 200), (8, 80):
        status, text = Terminal(place, size, "live", os.path.join(TRACE, "ctf"), "--top").end()
        lines = lines_of(text.split("\x1b[H\x1b[2J")[-1])
        check(not status and len(lines) <= size[0], "live --top at", size, "ends with", status, "and has", len(lines), "lines:", text)
        check(max(map(len, lines)) <= size[1], "live --top at", size, "has rows that are too wide:", text)
        tables.append([line.split(",")[0] for line in lines if re.search(r", \w+est|, most", line)])
    check(tables == [["Callbacks", "Topics"], ["Callbacks", "Topics", "Processes", "Events"], ["Callbacks"]], "live --top has the tables", tables)


def leaves_out(place):
    words = ("report", TRACE, "--section", "callbacks")
    narrow = Terminal(place, (24, 80), *words).end()[1]
    wide = Terminal(place, (24, 80), *words, "--wide").end()[1]
    piped = subprocess.run([KYMO, *words], env={**place, "TERM": "xterm"}, capture_output=True, text=True, check=True).stdout
    count = int(re.search(r"^(\d+) columns more: --wide$", ESCAPE.sub("", narrow), re.M).group(1))
    header = re.search(r"^Node .*$", piped, re.M).group(0)
    kept = next(line for line in lines_of(narrow) if line.startswith("Node "))
    titles = re.split(r"\s\s+", header)
    check(len(titles) == len(re.split(r"\s\s+", kept)) + count, "of", titles, "only", kept, "and", count)
    check("more: --wide" not in wide and header.split() == next(line for line in lines_of(wide) if line.startswith("Node ")).split(),
          "--wide leaves out:", wide)
    check("\x1b" not in piped and "…" not in piped, "a pipe gets", piped)
    topics = lines_of(Terminal(place, (24, 80), "report", TRACE, "--section", "topics").end()[1])
    header = next(line for line in topics if line.startswith("Topic ")).split()
    check("max" in header and "p99" in header, "80 columns have no room for the latency of a topic:", header)


def colors(place):
    def colored(*words, **more):
        return "\x1b[" in Terminal(place, (24, 80), "info", TRACE, *words, **more).end()[1]
    check(colored(), "no colours on a terminal")
    check(not colored(NO_COLOR="1") and not colored(TERM="dumb") and not colored("--color", "never"), "colours that nobody wants")
    check(colored("--color", "always", NO_COLOR="1"), "--color always is not stronger than NO_COLOR")
    piped = subprocess.run([KYMO, "info", TRACE, "--color", "always"], env=place, capture_output=True, check=True).stdout
    check(b"\x1b[" in piped, "--color always, in a pipe:", piped)
    check("\x1b" not in Terminal(place, (24, 80), "info", TRACE, "--format", "json").end()[1], "JSON with colours")


def helps(place):
    """-h and a prompt fit a screen, --help has each option, and no verb that ends something is proposed while another one is near."""
    for row in answer("help")["verbs"]:
        short, full = (subprocess.run([KYMO, row["verb"], option], env=place, capture_output=True, text=True, check=True).stdout
                       for option in ("-h", "--help"))
        wide = [line for line in (short + full).split("\n") if len(line) > 80]
        check(not wide, row["verb"], "has lines of help that are too wide:", wide)
        check(short.startswith("Usage:") and short.count("\n") <= 23, row["verb"], "-h is", short)
        for option in answer("help", row["verb"])["options"]:
            check(re.search(rf"^  .*--{option['option']}(?![a-z-])", full, re.M), row["verb"], "--help lacks", option["option"])
    for typed, wanted in ("stat", "'status'"), ("topp", "'top'"), ("stp", "ends a recording"), ("sotp", "'top'"), ("r", "'kymo help'"):
        told = subprocess.run([KYMO, typed], env=place, capture_output=True, text=True, check=False).stderr
        check(wanted in told, typed, "is answered by", told)
    listed = answer("report", "--section", "help")["sections"]
    check({"callbacks", "waits", "publish_instances"} <= {row["section"] for row in listed} and all(row["text"] for row in listed), listed)


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def pages(place, work):
    """A pager of the test writes its pid, shows a line, and waits for a key."""
    marker, script = os.path.join(work, "pager"), os.path.join(work, "page")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho $$ > {marker}\nhead -n1 >/dev/null\necho PAGER\nread key </dev/tty\ncat >/dev/null\necho END $key\n")
    os.chmod(script, 0o700)
    status, text = Terminal(place, (24, 80), "query", TRACE, "SELECT 1", KYMO_PAGER=script).end()
    check(status == 0 and not os.path.exists(marker), "a pager for a text of three lines", text)
    status, text = Terminal(place, (24, 80), "query", TRACE, "SELECT * FROM nothing", KYMO_PAGER=script).end()
    check(status == 2 and "nothing" in text, "an error is not shown, or its status is lost:", status, text)

    # Whether a pager runs does not depend on what was kept of the answer, or could be.
    rows = "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n LIMIT 60) SELECT i FROM n"
    for words, paged in (("query", TRACE, rows.format(1)), True), (("query", TRACE, rows.format("random()")), True), (("top", TRACE, "--once"), False):
        for cache in "off", "always", "always":
            kept = {"KYMO_CACHE": cache, "XDG_CACHE_HOME": work, "KYMO_PAGER": "echo PAGER; cat >/dev/null"}
            status, text = Terminal(place, (10, 80), *words, **kept).end()
            check(status == 0 and ("PAGER" in text) == paged and (paged or len(lines_of(text)) > 10), words, cache, "are printed", status, text)
    status, text = Terminal(place, (24, 80), "list", TRACE, KYMO_PAGER=script).read("PAGER").type("x\n").end()
    check(status == 0 and "END x" in text, "the pager did not get the keys:", status, text)
    # The status of the verb, not that of the pager: --expect is not kept.
    status, text = Terminal(place, (24, 80), "dump", TRACE, "--strict", KYMO_PAGER="cat >/dev/null; exit 9").end()
    check(status == 0, "the pager's status became kymo's:", status, text)
    for words in ("--no-pager",), ():
        os.remove(marker) if os.path.exists(marker) else None
        Terminal(place, (24, 80), "list", TRACE, *words, KYMO_PAGER=script if words else "cat").end()
        check(not os.path.exists(marker), "a pager that nobody wants")


def is_left(place, work):
    """The user leaves the pager before all was written; and Ctrl-C while the command works."""
    marker, script = os.path.join(work, "pid"), os.path.join(work, "leave")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho $$ > {marker}\nhead -n3\necho PAGER\nread key </dev/tty\n")
    os.chmod(script, 0o700)
    for keys in "q\n", "\x03":
        status, text = Terminal(place, (24, 80), "dump", TRACE, "--wide", KYMO_PAGER=script).read("PAGER").type(keys).end()
        check(status == (0 if keys == "q\n" else -signal.SIGINT), repr(keys), "ends with", status, text)
        with open(marker, encoding="utf-8") as file:
            pid = int(file.read())
        until("the end of the pager", lambda pid=pid: is_gone(pid))


def less(place):
    """The real one: a page, then q."""
    if not any(os.access(os.path.join(path, "less"), os.X_OK) for path in os.environ["PATH"].split(":")):
        print("skipped in part: no less")
        return
    more = {"KYMO_PAGER": "less"}
    status, text = Terminal(place, (24, 80), "list", TRACE, **more).read(":").type("q").end()
    check(status == 0 and "ros2:" in text, "less:", status, text)


@in_directory
def main(work):
    place = private(work, ROS_TRACE_DIR=work)
    fits(place)
    uses_room(place)
    first_screens(place)
    live_lines(place)
    stays(place)
    leaves_out(place)
    colors(place)
    helps(place)
    pages(place, work)
    is_left(place, work)
    less(place)
