#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A real lttng-sessiond and lttng-consumerd send to `kymo relay`, real babeltrace2 viewers watch: every event of a run
once and in order, also for a viewer that comes late or when all is over, per user and per process, through a clear."""
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_lttng import LTTNG, Watcher, begin, check, emit, finish, missing, run, sessiond
from lib_net import private
from lib_relay import Relay
from lib_test import until


def viewers_at_all_times(buffers):
    with Relay() as relay:
        begin(relay, 'all', buffers=buffers)
        wanted = {'one': 400, 'two': 300, 'short': 5}
        first = emit('one', 400)
        until('a file', lambda: any(files for _, _, files in os.walk(relay.output)))
        watchers = [Watcher(relay, 'all'), Watcher(relay, 'all')]
        until('events at the viewers', lambda: all(len(w.lines()) > 20 for w in watchers))
        second = emit('two', 300)
        assert emit('short', 5, 0).wait(300) == 0        # gone before anybody could ask for its streams
        watchers.append(Watcher(relay, 'all'))
        assert first.wait(300) == 0 and second.wait(300) == 0
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
        assert emit('before', 50).wait(300) == 0
        run(*LTTNG, 'clear', 'cleared')
        watcher = Watcher(relay, 'cleared')
        assert emit('after', 60).wait(300) == 0
        finish('cleared')
        check('behind a clear', watcher.events(), {'after': 60})
        stored = run('babeltrace2', relay.output)
        check('stored behind a clear', re.findall(r'msg = "([^"]*)"', stored), {'after': 60})
    print('clear: what came before is gone, what came after is complete')


def rotated_files_survive():
    """Files of two pages that are overwritten while a viewer reads: it sees no error, and the newest."""
    with Relay() as relay:
        begin(relay, 'files', '--subbuf-size=4096', '--num-subbuf=256', '--tracefile-size=8192', '--tracefile-count=3')
        watcher = Watcher(relay, 'files')
        assert emit('many', 2000, 200).wait(300) == 0
        finish('files')
        seen = [int(text.split()[1]) for text in watcher.events()]
        assert seen == sorted(set(seen)) and seen[-1] == 1999, seen[-3:]
    print(f'overwritten files: a viewer saw {len(seen)} of 2000 events, each once')


def a_session_that_is_not_live():
    with Relay() as relay:
        run(*LTTNG, 'create', 'plain', f'--set-url=net://127.0.0.1:{relay.control}:{relay.data}')
        run(*LTTNG, 'enable-event', '-u', '-s', 'plain', 'lttng_ust_tracef:*')
        run(*LTTNG, 'start', 'plain')
        assert emit('first', 40, 100).wait(300) == 0
        run(*LTTNG, 'rotate', 'plain')
        assert emit('second', 30, 100).wait(300) == 0
        finish('plain')
        stored = run('babeltrace2', relay.output)
        check('rotated', re.findall(r'msg = "([^"]*)"', stored), {'first': 40, 'second': 30})
        assert any('archives' in path for path, _, _ in os.walk(relay.output))
    print('not live, rotated: complete')


def main():
    why = missing() or private(__file__, network=False, lttng=True)
    if why:
        print(f'skipped: {why}')
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
