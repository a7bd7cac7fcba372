#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A real lttng-sessiond and lttng-consumerd send to `kymo relay`, real babeltrace2 viewers watch: every event of a run
once and in order, also for a viewer that comes late or when all is over, per user and per process, through a clear."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from lib_relay import BUILD, Relay, until

EVENTS = os.path.join(BUILD, 'tests', 'lttng_events')
LTTNG = ['lttng', '--no-sessiond']


def run(*command, **kwargs):
    result = subprocess.run(command, capture_output=True, text=True, **kwargs)
    assert result.returncode == 0, f'{" ".join(command)}: {result.returncode} {result.stdout} {result.stderr}'
    return result.stdout


@contextlib.contextmanager
def sessiond():
    """A session daemon of our own; the caller has made root's fixed place for it private."""
    home = tempfile.mkdtemp(prefix='kymo-lttng-')
    os.environ['LTTNG_HOME'] = home
    log = open(os.path.join(home, 'log'), 'w')
    daemon = subprocess.Popen(['lttng-sessiond', '--no-kernel'], stdout=log, stderr=log)
    try:
        until('the session daemon', lambda: subprocess.run(LTTNG + ['list'], capture_output=True).returncode == 0)
        yield
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(60)
        log.close()
        shutil.rmtree(home)


def begin(relay, name, *options, buffers='--buffers-uid'):
    run(*LTTNG, 'create', name, '--live=100000', f'--set-url=net://127.0.0.1:{relay.control}:{relay.data}')
    run(*LTTNG, 'enable-channel', '-u', '-s', name, buffers, *options, 'c')
    run(*LTTNG, 'enable-event', '-u', '-s', name, '-c', 'c', 'lttng_ust_tracef:*')
    run(*LTTNG, 'start', name)


def finish(name):
    run(*LTTNG, 'stop', name)
    run(*LTTNG, 'destroy', name)


class Watcher:
    """babeltrace2 with lttng-live; it ends by itself when the session has ended and all was shown."""

    def __init__(self, relay, name):
        url = f'net://127.0.0.1:{relay.live}/host/{os.uname().nodename}/{name}'
        self.out = tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(
            ['babeltrace2', '--clock-seconds', '-i', 'lttng-live', url, '--params', 'session-not-found-action="end"'],
            stdout=self.out, stderr=subprocess.STDOUT)

    def lines(self):
        self.out.seek(0)
        return self.out.read().splitlines()

    def events(self):
        """Waits for its end; the texts of the events, in order."""
        status = self.process.wait(120)
        lines = self.lines()
        assert status == 0, f'babeltrace2 ended with {status}: {lines[-5:]}'
        assert not [line for line in lines if 'msg = ' not in line], lines
        times = [line.split()[0] for line in lines]
        assert times == sorted(times)
        return [re.search(r'msg = "([^"]*)"', line)[1] for line in lines]


def emit(name, count, period=2000):
    return subprocess.Popen([EVENTS, name, str(count), str(period)])


def check(what, events, wanted):
    """@wanted: {name: count}; each event once, those of a program in order."""
    for name, count in wanted.items():
        mine = [int(text.split()[1]) for text in events if text.split()[0] == name]
        assert mine == list(range(count)), f'{what}: of {name} {len(mine)} of {count}, first difference at ' \
            f'{next((i for i, n in enumerate(mine) if n != i), len(mine))}'
    assert len(events) == sum(wanted.values()), f'{what}: {len(events)} events'


def viewers_at_all_times(buffers):
    with Relay() as relay:
        begin(relay, 'all', buffers=buffers)
        wanted = {'one': 400, 'two': 300, 'short': 5}
        first = emit('one', 400)
        until('a file', lambda: any(files for _, _, files in os.walk(relay.output)))
        watchers = [Watcher(relay, 'all'), Watcher(relay, 'all')]
        until('events at the viewers', lambda: all(len(w.lines()) > 20 for w in watchers))
        second = emit('two', 300)
        assert emit('short', 5, 0).wait(60) == 0        # gone before anybody could ask for its streams
        watchers.append(Watcher(relay, 'all'))
        assert first.wait(60) == 0 and second.wait(60) == 0
        finish('all')
        for watcher in watchers:
            check(f'a viewer, {buffers}', watcher.events(), wanted)
        check(f'a viewer after the end, {buffers}', Watcher(relay, 'all').events(), wanted)
        stored = run('babeltrace2', relay.output)
        check(f'what is stored, {buffers}', re.findall(r'msg = "([^"]*)"', stored), wanted)
        assert 'disconnected' not in relay.said(), relay.said()
    print(f'{buffers}: 705 events at four viewers and on disk')


def a_clear_takes_away():
    with Relay() as relay:
        begin(relay, 'cleared')
        assert emit('before', 50).wait(60) == 0
        run(*LTTNG, 'clear', 'cleared')
        watcher = Watcher(relay, 'cleared')
        assert emit('after', 60).wait(60) == 0
        finish('cleared')
        check('behind a clear', watcher.events(), {'after': 60})
        stored = run('babeltrace2', relay.output)
        check('stored behind a clear', re.findall(r'msg = "([^"]*)"', stored), {'after': 60})
    print('clear: what came before is gone, what came after is complete')


def rotated_files_survive():
    """Files of two pages that are overwritten while a viewer reads: it sees no error, and the newest."""
    with Relay() as relay:
        begin(relay, 'files', '--subbuf-size=4096', '--tracefile-size=8192', '--tracefile-count=3')
        watcher = Watcher(relay, 'files')
        assert emit('many', 2000, 200).wait(60) == 0
        finish('files')
        seen = [int(text.split()[1]) for text in watcher.events()]
        assert seen == sorted(set(seen)) and seen[-1] == 1999, seen[-3:]
    print(f'overwritten files: a viewer saw {len(seen)} of 2000 events, each once')


def a_session_that_is_not_live():
    with Relay() as relay:
        run(*LTTNG, 'create', 'plain', f'--set-url=net://127.0.0.1:{relay.control}:{relay.data}')
        run(*LTTNG, 'enable-event', '-u', '-s', 'plain', 'lttng_ust_tracef:*')
        run(*LTTNG, 'start', 'plain')
        assert emit('first', 40, 100).wait(60) == 0
        run(*LTTNG, 'rotate', 'plain')
        assert emit('second', 30, 100).wait(60) == 0
        finish('plain')
        stored = run('babeltrace2', relay.output)
        check('rotated', re.findall(r'msg = "([^"]*)"', stored), {'first': 40, 'second': 30})
        assert any('archives' in path for path, _, _ in os.walk(relay.output))
    print('not live, rotated: complete')


def private(script):
    """Root's session daemon has one fixed place: @script begins again in a mount namespace that makes it private. Return:
    whether it can be."""
    if os.getuid() or 'KYMO_PRIVATE' in os.environ:
        return True
    os.makedirs('/run/lttng', exist_ok=True)
    os.environ['KYMO_PRIVATE'] = '1'
    command = 'mount -t tmpfs tmpfs /run/lttng && exec "$@"'
    if subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode:
        print('there is no private place for a session daemon')
        return False
    return os.execvp('unshare', ['unshare', '-m', 'sh', '-c', command, 'sh', sys.executable, os.path.abspath(script)])


def main():
    if not shutil.which('lttng-sessiond') or not shutil.which('babeltrace2') or not os.path.exists(EVENTS):
        print('lttng-sessiond, babeltrace2 or liblttng-ust-dev is missing')
        return 77
    if not private(__file__):
        return 77
    with sessiond():
        viewers_at_all_times('--buffers-uid')
        viewers_at_all_times('--buffers-pid')
        a_clear_takes_away()
        rotated_files_survive()
        a_session_that_is_not_live()
    return 0


if __name__ == '__main__':
    sys.exit(main())
