# SPDX-License-Identifier: Apache-2.0
"""`ros2` in a child of the test, forked: with all that is imported already, which is most of its time."""
import os
import sys
import time

import kymo

import kymo_ros2.command.kymo  # noqa: F401
from ros2cli.cli import main

kymo.verbs()


class Ros2:
    """One `ros2 ARGUMENTS`. stdin, stdout and stderr are files; `env` is added to the environment, fd 8 is `offered`."""

    def __init__(self, *arguments, env=None, new_session=False):
        pipes = [os.pipe() for _ in range(4)]
        (input_end, self_input), (self_out, out), (self_err, err), (self_offered, offered) = pipes
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                if new_session:
                    os.setsid()
                for number, end in ((0, input_end), (1, out), (2, err), (8, os.dup(offered)), (9, os.dup(err))):
                    os.dup2(end, number)
                os.closerange(10, 256)
                self._child(arguments, env)
            finally:
                os._exit(99)
        for end in (input_end, out, err, offered):
            os.close(end)
        self.stdin, self.stdout = os.fdopen(self_input, 'w'), os.fdopen(self_out)
        self.stderr, self.offered = os.fdopen(self_err), os.fdopen(self_offered)
        self.status = None

    @staticmethod
    def _child(arguments, env):
        # Without a buffer, as a terminal has it for input().
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, 'w'), open(2, 'w')
        os.environ.update(env or {})
        sys.argv = ['ros2', *arguments]
        try:
            status = main()
        except SystemExit as end:
            status = end.code
        if isinstance(status, str):
            print(status, file=sys.stderr)
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(status or 0))

    def poll(self):
        """Its exit status, None while it runs."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def wait(self, seconds=60):
        """Its exit status."""
        deadline = time.monotonic() + seconds
        while self.poll() is None:
            assert time.monotonic() < deadline, 'it does not end'
            time.sleep(0.005)
        return self.status

    def close(self):
        """Nothing more is said to it."""
        self.stdin.close()
        return self


class Done:
    """An `ros2 ARGUMENTS` that has ended: returncode, stdout, stderr."""

    def __init__(self, *arguments, stdin=''):
        child = Ros2(*arguments)
        child.stdin.write(stdin)
        child.close()
        self.stdout, self.stderr = child.stdout.read(), child.stderr.read()
        self.returncode = child.wait()
