# SPDX-License-Identifier: Apache-2.0
"""Real LTTng for tests: a session daemon of our own, sessions that go to a relay, programs that emit numbered events,
and babeltrace2 as a viewer."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile

from lib_test import BUILD, until


EVENTS = os.path.join(BUILD, 'tests', 'lttng_events')
LTTNG = ['lttng', '--no-sessiond']
# Each live timer takes a part of a buffer: with four of them LTTng loses events when its consumer waits 0.4 s for a CPU.
# For buffers of a user: those of each process would be made, and sent, too slowly.
ROOM = ['--subbuf-size=16K', '--num-subbuf=256']


def missing():
    """Why LTTng cannot be had here, or None."""
    for program in 'lttng-sessiond', 'lttng-relayd', 'babeltrace2':
        if not shutil.which(program):
            return f'{program} is missing'
    if not os.path.exists(EVENTS):
        return 'liblttng-ust-dev was missing'
    return None


def run(*command, **kwargs):
    result = subprocess.run(command, capture_output=True, text=True, **kwargs)
    assert result.returncode == 0, f'{" ".join(command)}: {result.returncode} {result.stdout} {result.stderr}'
    return result.stdout


@contextlib.contextmanager
def sessiond():
    """A session daemon of our own; lib_net.private() has made root's fixed place for it private."""
    home = tempfile.mkdtemp(prefix='kymo-lttng-')
    os.environ['LTTNG_HOME'] = home
    log = open(os.path.join(home, 'log'), 'w')
    daemon = subprocess.Popen(['lttng-sessiond', '--no-kernel'], stdout=log, stderr=log)
    try:
        until('the session daemon', lambda: subprocess.run(LTTNG + ['list'], capture_output=True).returncode == 0)
        yield
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(300)
        log.close()
        shutil.rmtree(home)


def consumers():
    """Process ids of the session daemon's consumer daemons, by the home directory that they have of it."""
    found, home = [], f'LTTNG_HOME={os.environ["LTTNG_HOME"]}'.encode()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            with open(f'/proc/{pid}/comm') as comm, open(f'/proc/{pid}/environ', 'rb') as environment:
                if comm.read().startswith('lttng-consumer') and home in environment.read().split(b'\0'):
                    found.append(int(pid))
    return found


def begin(relay, name, *options, buffers='--buffers-uid'):
    run(*LTTNG, 'create', name, '--live=100000', f'--set-url=net://{relay.host}:{relay.control}:{relay.data}')
    run(*LTTNG, 'enable-channel', '-u', '-s', name, buffers, *(options or (ROOM if buffers == '--buffers-uid' else [])), 'c')
    run(*LTTNG, 'enable-event', '-u', '-s', name, '-c', 'c', 'lttng_ust_tracef:*')
    run(*LTTNG, 'start', name)


def finish(name):
    run(*LTTNG, 'stop', name)
    run(*LTTNG, 'destroy', name)


class Watcher:
    """babeltrace2 with lttng-live; it ends by itself when the session has ended and all was shown."""

    # Of two streams that are silent until the same time, it takes either.
    HARMLESS = 'Cannot deterministically pick next live stream message iterator'

    def __init__(self, relay, name, inside=()):
        url = f'net://{relay.host}:{relay.live}/host/{os.uname().nodename}/{name}'
        self.out, self.err = tempfile.TemporaryFile('w+'), tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(
            [*inside, 'babeltrace2', '--clock-seconds', '-i', 'lttng-live', url, '--params', 'session-not-found-action="end"'],
            stdout=self.out, stderr=self.err)

    @staticmethod
    def read(file):
        return os.pread(file.fileno(), 1 << 30, 0).decode()

    def lines(self):
        return self.read(self.out).splitlines()

    def events(self):
        """Waits for its end; the texts of the events, in order."""
        status = self.process.wait(300)
        said = [line for line in self.read(self.err).splitlines() if line and self.HARMLESS not in line]
        assert status == 0 and not said, f'babeltrace2 ended with {status}: {said[:5]}'
        times = [line.split()[0] for line in self.lines()]
        assert times == sorted(times)
        return [match[1] for line in self.lines() if (match := re.search(r'msg = "([^"]*)"', line))]


def emit(name, count, period=2000, pinned=False):
    """@pinned: it stays on one CPU, so all of it is in one stream, and in one order."""
    first = {min(os.sched_getaffinity(0))}
    return subprocess.Popen([EVENTS, name, str(count), str(period)],
                            preexec_fn=(lambda: os.sched_setaffinity(0, first)) if pinned else None)


def check(what, events, wanted):
    """@wanted: {name: count}; each event once, those of a program in order."""
    for name, count in wanted.items():
        mine = [int(text.split()[1]) for text in events if text.split()[0] == name]
        assert mine == list(range(count)), f'{what}: of {name} {len(mine)} of {count}, first difference at ' \
            f'{next((i for i, n in enumerate(mine) if n != i), len(mine))}'
    assert len(events) == sum(wanted.values()), f'{what}: {len(events)} events'
