#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`kymo live` watches real LTTng sessions through `kymo relay` and through a real lttng-relayd: what it prints and what it
writes is what babeltrace2 reads from the files of the relay, line by line; it waits for sessions, and ends when they end,
when it is told to, and, with an error, when the relay goes away."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_live import Cut, Live, LttngRelayd
from lib_lttng import begin, emit, finish, missing, run, sessiond
from lib_net import private
from lib_relay import Relay
from lib_test import KYMO, private as test_env, robot, until


def stored(relay):
    return run('babeltrace2', relay.output).splitlines()


def same(what, lines, wanted):
    difference = next((pair for pair in zip(lines, wanted) if pair[0] != pair[1]), None)
    assert lines == wanted, f'{what}: {len(lines)} lines, {len(wanted)} are stored; {difference}'


@contextlib.contextmanager
def scratch():
    directory = tempfile.mkdtemp(prefix='kymo-live-test-')
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def a_session(make_relay, buffers):
    """A viewer that waits for the session, one that comes later, and, where there can be several, others."""
    with make_relay() as relay, scratch() as directory:
        several = make_relay is Relay
        early = Live(Live.url(relay, 'all'))
        until('that it waits', lambda: 'waiting for' in early.said())
        begin(relay, 'all', buffers=buffers)
        first = emit('one', 300)
        until('events', lambda: len(early.lines()) > 20)
        copy = os.path.join(directory, 'copy')
        others = [Live(Live.url(relay, 'all'), '-o', copy), Live(Live.url(relay, 'all'), '--format', 'json')] if several else []
        second = emit('two', 200)
        if several:
            others.append(Live(relay.output))           # reads the relay's files, without a connection
            assert emit('short', 5, 0).wait(300) == 0    # gone before anybody could ask for its streams
            until('a copy', lambda: os.path.isdir(copy) and 'metadata' in str(list(os.walk(copy))))
            until('a copy that is read while it grows', lambda: subprocess.run(
                ['babeltrace2', copy], capture_output=True, text=True).stdout.count('\n') > 20)
        assert first.wait(300) == 0 and second.wait(300) == 0
        finish('all')
        lines, wanted = early.wait(), stored(relay)
        assert len(wanted) > 20         # a program that LTTng has no time to meet runs without it
        same('a viewer', lines, wanted)
        if several:
            check_others(relay, others, copy, wanted)
    print(f'{make_relay.__name__}, {buffers}: {len(wanted)} events')


def check_others(relay, others, copy, wanted):
    for other in others:
        other.wait()
    assert len([json.loads(line) for line in others[1].lines()]) == len(wanted)
    seen = subprocess.run(['babeltrace2', copy], capture_output=True, text=True)
    same('who read the relay\'s files', others[2].lines(), wanted)
    same('what was written', seen.stdout.splitlines(), wanted)
    assert not seen.stderr, seen.stderr
    same('what we read of it', run(KYMO, 'dump', copy).splitlines(), wanted)
    same('a viewer after the end', Live(Live.url(relay, 'all')).wait(), wanted)
    assert len(Live(Live.url(relay, 'all'), '-n', '7').wait()) == 7
    files = [name for _, _, names in os.walk(copy) for name in names]
    assert len([name for name in files if name.endswith('.idx')]) >= 2, files


def more_lines(live):
    seen = len(live.lines())
    until('some more', lambda: len(live.lines()) > seen)


def cuts(relay_class):
    """Connections that break again and again: nothing comes twice, nothing is missing."""
    with relay_class() as relay, scratch() as directory:
        cut = Cut(relay)
        begin(relay, 'cut')
        copy = os.path.join(directory, 'copy')
        lives = [Live(Live.url(cut, 'cut'), '--reconnect')]
        if relay_class is Relay:
            lives.append(Live(Live.url(cut, 'cut'), '--reconnect', '-o', copy))
        programs = [emit('one', 1000000), emit('two', 1000000, 3000)]
        for number in range(1, 4):
            more_lines(lives[0])
            cut.cut()
            until('them again', lambda: all(live.said().count('is there again') == number for live in lives))
        more_lines(lives[0])            # lttng-relayd shows nothing of a session that ended while nobody watched
        for program in programs:
            program.kill()
            program.wait()
        finish('cut')
        lines, wanted = lives[0].wait(), stored(relay)
        same('across cuts', lines, wanted)
        assert len(wanted) > 20
        if relay_class is Relay:
            lives[1].wait()
            same('what was written across cuts', run('babeltrace2', copy).splitlines(), wanted)
        print(f'{relay_class.__name__}: 3 cuts, {len(wanted)} events once')


def kib(directory):
    return int((subprocess.run(['du', '-sk', directory], capture_output=True, text=True).stdout.split() or ['0'])[0])


def forgets():
    """What was shown does not stay on the disk."""
    with Relay() as relay, scratch() as directory:
        begin(relay, 'much', '--subbuf-size=1M', '--num-subbuf=8')
        live, most = Live(Live.url(relay, 'much'), '--format', 'json', env={**os.environ, 'TMPDIR': directory}), 0
        programs = [emit('one', 1000000, 0), emit('two', 1000000, 0)]
        while any(program.poll() is None for program in programs):
            most = max(most, kib(directory))
        finish('much')
        while live.process.poll() is None:
            most = max(most, kib(directory))
        assert len(live.wait()) == len(stored(relay))
        assert most < kib(relay.output) * 2 / 3, f'{most} KiB of {kib(relay.output)}'
        assert not os.listdir(directory)
        print(f'at most {most} KiB of {kib(relay.output)} were on the disk')


def the_list():
    with Relay() as relay:
        url = f'net://127.0.0.1:{relay.live}'
        assert run(KYMO, 'live', url, '--format', 'csv').splitlines() == ['host,session,streams,viewers,live_timer_ns,id']
        assert 'Record one: kymo record --relay' in run(KYMO, 'live', url)
        begin(relay, 'listed')
        session = json.loads(run(KYMO, 'live', url, '--format', 'json'))['sessions'][0]
        assert (session['session'], session['host'], session['live_timer_ns']) == ('listed', os.uname().nodename, 100000000)
        finish('listed')
    done = subprocess.run([KYMO, 'live', url], capture_output=True, text=True)
    assert done.returncode == 1 and 'cannot connect' in done.stderr and not done.stdout, done     # no list, not an empty one
    print('sessions are listed')


def ends(relay_class):
    """Ctrl-C while events come; then the relay goes away."""
    with relay_class() as relay:
        begin(relay, 'ends')
        program = emit('many', 100000, 1000)
        live = Live(Live.url(relay, 'ends'), '-o', os.path.join(relay.dir, 'copy'))
        until('a copy', lambda: os.path.isdir(os.path.join(relay.dir, 'copy', 'ust')))
        live.stop()
        live = Live(Live.url(relay, 'ends'))
        until('events', lambda: len(live.lines()) > 20)
        live.stop()
        live = Live(Live.url(relay, 'ends'))
        until('events', lambda: len(live.lines()) > 20)
        relay.process.kill()
        relay.process.wait()
        live.wait(1)
        assert 'relay' in live.said() and '; with --reconnect' in live.said(), live.said()
        refused = subprocess.run([KYMO, 'live', f'net://127.0.0.1:{relay.live}'], capture_output=True, text=True, check=False)
        assert refused.returncode == 1 and 'cannot connect to 127.0.0.1' in refused.stderr, refused
        program.kill()
        program.wait()
        subprocess.run(['lttng', '--no-sessiond', 'destroy', '--no-wait', 'ends'], capture_output=True)
    print(f'{relay_class.__name__}: ends when told, and says that the relay has gone')


def first_with_callbacks(text):
    """Of JSON documents one after the other: an interval of a busy machine may have none. None: not yet."""
    while text.strip():
        try:
            document, end = json.JSONDecoder().raw_decode(text.lstrip())
        except ValueError:
            return None                                 # not yet complete
        if document.get('callbacks'):
            return document
        text = text.lstrip()[end:]
    return None


def from_now(relay_class):
    """A viewer that comes late knows all names, and counts nothing of what was before: the facts are read, the rings are not."""
    with relay_class() as relay:
        recorder = subprocess.Popen(
            [KYMO, 'record', '-o', os.path.join(relay.dir, 'trace'), '--relay', f'net://127.0.0.1:{relay.control}:{relay.data}/late',
             '--', *robot(600)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=test_env(relay.dir))
        try:
            early = Live(Live.url(relay, 'late'), '--event', 'ros2:callback_end', '--count', '2000')
            early.wait()                                # there is something to leave out; lttng-relayd has one viewer at a time
            live = Live(Live.url(relay, 'late'), '--now', '--top', '--interval', '200ms', '--format', 'json')
            first = until('a table of callbacks', lambda: first_with_callbacks(live.text()))
            live.stop()
            assert all(row['node'] and row['kind'] != 'unknown' for row in first['callbacks']), first
            assert sum(row['count'] for row in first['callbacks']) < 2000, first
            counted = Live(Live.url(relay, 'late'), '--now', '--count', '100')
            assert not any('_init:' in line for line in counted.wait()), 'facts of what was before are shown'
        finally:
            recorder.send_signal(signal.SIGINT)
            recorder.wait()
    print(f'{relay_class.__name__}: from now on, with names')


def main():
    why = missing() or private(__file__, network=False, lttng=True)
    if why:
        print(f'skipped: {why}')
        return 77
    with sessiond():
        the_list()
        a_session(Relay, '--buffers-uid')
        a_session(Relay, '--buffers-pid')
        a_session(LttngRelayd, '--buffers-uid')
        if 'KYMO_TEST_ROUNDS' in os.environ:
            cuts(Relay)
            cuts(LttngRelayd)
            forgets()
    for relay in (Relay, LttngRelayd):
        with sessiond():
            ends(relay)
        from_now(relay)
    return 0


if __name__ == '__main__':
    sys.exit(main())
