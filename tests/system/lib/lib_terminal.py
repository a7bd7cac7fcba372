# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal, whose screen a terminal emulator (pyte) reads; without pyte there is none."""
import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

from lib_test import check

try:
    import pyte
except ImportError:
    pyte = None


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, *words, env, rows=24, columns=80):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execve(words[0], words, dict(env, TERM="linux", LINES="", COLUMNS="", LC_ALL=env.get("LC_ALL", "C.UTF-8")))
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def read(self):
        """Take over what the program has written within a moment. Return: whether it still runs."""
        if select.select([self.fd], [], [], 0.3)[0]:
            with contextlib.suppress(OSError):
                data = os.read(self.fd, 65536)
                self.stream.feed(data)
                return bool(data)
            return False
        return True

    def shows(self, what, pattern):
        """Read until the screen has @pattern. Return: the match."""
        deadline, runs = time.monotonic() + 300, True
        while not (found := re.search(pattern, self.text(), re.M)) and time.monotonic() < deadline and runs:
            runs = self.read()
        check(found, "the screen has no", what, repr(pattern), "after five minutes" if runs else "when the program ended", ":\n" + self.text())
        return found

    def keys(self, text):
        os.write(self.fd, text.encode())

    def end(self, key="q"):
        if key:
            self.keys(key)
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
