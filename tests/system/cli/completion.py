#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Shells complete kymo's command line: bash, zsh and fish as they are at a terminal, each with its own files as they are
installed. A shell that is not here is left out.

    completion.py           of the build, installed into a directory of its own
    completion.py all       of the system, as packages installed it; then all three shells must be here"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SHARED

PATIENCE = 60
PROMPT = "ready> "
LOADER = "/usr/share/bash-completion/bash_completion"		# finds what completes kymo by itself, in XDG_DATA_DIRS

# What is typed before the TAB, and the words that then stand there.
CASES = [
    ("kymo repo", ["kymo", "report"]),
    ("kymo report --begi", ["kymo", "report", "--begin"]),
    ("kymo report --format js", ["kymo", "report", "--format", "json"]),
    ("kymo report --format=js", ["kymo", "report", "--format=json"]),
    ("kymo record --kernel=if", ["kymo", "record", "--kernel=if-possible"]),
    ("kymo record --kernel a\\ tra", ["kymo", "record", "--kernel", "a trace/"]),
    ("kymo dump a\\ tra", ["kymo", "dump", "a trace/"]),
    ("kymo record -o a\\ tra", ["kymo", "record", "-o", "a trace/"]),
    ("kymo record --malloc -- kymo_a_rob", ["kymo", "record", "--malloc", "--", "kymo_a_robot"]),
    ("kymo record -- kymo_a_robot a\\ tra", ["kymo", "record", "--", "kymo_a_robot", "a trace/"]),
    ("kymo report --section cyc", ["kymo", "report", "--section", "cycles"]),
    ("kymo report --node /pla", ["kymo", "report", "--node", "/planning/planner"]),
    ("kymo help exp", ["kymo", "help", "export"]),
    ("kymo --completion zs", ["kymo", "--completion", "zsh"]),
]


class Terminal:
    """A shell at a terminal of its own."""

    def __init__(self, words, place, environment):
        self.said = ""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(place)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 1000, 0, 0))	# no line is broken
            os.execvpe(words[0], words, environment)

    def wait(self, pattern):
        """Reads until it is there, and gives what matched; what came before is forgotten."""
        until = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.said, re.S)):
            if not select.select([self.fd], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError(f"no {pattern!r} in {self.said!r}")
            self.said = re.sub(r"\x1b\[\?2004[hl]", "", self.said + os.read(self.fd, 65536).decode(errors="replace"))
        self.said = self.said[found.end():]
        return found

    def order(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def words_after_tab(terminal, typed):
    """The line is not run: what comes before it, ^A, prints its words. The ^B and ^F make zsh keep what it has inserted."""
    terminal.order(f"{typed}\t\x02\x06\x01printf '<%s>\\n' begin \x05 end\r")
    shown = terminal.wait(r"<begin>\r?\n(.*?)<end>\r?\n.*?" + PROMPT)[1]
    return re.findall(r"<(.*?)>", shown)


def at_terminal(words, setup, place, environment):
    terminal = Terminal(words, place, dict(environment, PS1=PROMPT, PROMPT=PROMPT, TERM="dumb"))
    try:
        terminal.wait(PROMPT)
        terminal.order(setup + "\r")
        terminal.wait(PROMPT + "$")
        return [words_after_tab(terminal, typed) for typed, _ in CASES]
    finally:
        terminal.end()


def bash(share, place, environment):
    return at_terminal(["bash", "--norc", "--noprofile", "-i"], f". {share}/bash-completion/completions/kymo", place, environment)


def bash_completion(_, place, environment):
    return at_terminal(["bash", "--norc", "--noprofile", "-i"], f". {LOADER}", place, environment)


def zsh(share, place, environment):
    ours = "" if share == "/usr/share" else f"fpath=({share}/zsh/*(N/) $fpath); "
    return at_terminal(["zsh", "-f", "-i"], f"bindkey -e; unsetopt auto_remove_slash; {ours}autoload -Uz compinit; compinit -u -D",
                       place, environment)


def fish(_, place, environment):
    """It says what it would insert, a word a line: that is the completed last one."""
    gave = []
    for typed, _ in CASES:
        done = subprocess.run(["fish", "-c", "complete --escape -C $argv[1]", "--", typed],
                              cwd=place, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
        offers = [line.split("\t")[0].replace("\\ ", " ") for line in done.stdout.splitlines()] or [done.stderr]
        before = typed.replace("\\ ", "\0").split(" ")[:-1]
        gave.append([word.replace("\0", " ") for word in before] + offers)
    return gave


def try_shell(shell, share):
    failures = []
    with tempfile.TemporaryDirectory(prefix="kymo-completion-") as place:
        for folder in "a trace", "report", "bin", "home":
            os.mkdir(os.path.join(place, folder))
        os.makedirs(f"{place}/home/.ros/tracing")
        os.symlink(f"{SHARED}/data/ros2-traces/pair_basic_st", f"{place}/home/.ros/tracing/session-20260101000000")
        robot = os.path.join(place, "bin", "kymo_a_robot")
        with open(robot, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(robot, 0o755)
        environment = {"PATH": f"{place}/bin:{os.path.dirname(share)}/bin:{os.environ['PATH']}", "HOME": f"{place}/home", "LC_ALL": "C.UTF-8",
                       "XDG_DATA_DIRS": share if share == "/usr/share" else f"{share}:/usr/share"}
        for (typed, wanted), gave in zip(CASES, shell(share, place, environment)):
            if gave != wanted:
                failures.append(f"{shell.__name__} makes {gave} of {typed!r}, not {wanted}")
    return failures


def main():
    system = sys.argv[1:] == ["all"]
    failures, tried = [], []
    with tempfile.TemporaryDirectory(prefix="kymo-completion-") as prefix:
        if not system:
            subprocess.run(["cmake", "--install", os.environ["KYMO_BUILD"], "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        for shell in bash, bash_completion, zsh, fish:
            if os.path.exists(LOADER) if shell == bash_completion else shutil.which(shell.__name__):
                tried.append(shell.__name__)
                failures += try_shell(shell, "/usr/share" if system else prefix + "/share")
            elif system:
                failures.append(f"{shell.__name__} is not installed")
    if not system:
        words = ["--complete", "node", "report", f"{SHARED}/data/ros2-traces/pair_lifecycle/ctf"]
        gave = subprocess.run([os.path.join(os.environ["KYMO_BUILD"], "bin", "kymo"), *words], capture_output=True, text=True, check=True).stdout
        if "/lc_talker" not in gave.split():
            failures.append(f"{words} gives {gave!r}, not the nodes of that trace")
    for failure in failures:
        print("FAILED:", failure)
    print("tried:", *tried)
    return bool(failures)


sys.exit(main())
