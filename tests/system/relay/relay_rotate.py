#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`lttng rotate`, several times, of a session that a real lttng-consumerd sends to `kymo relay` and to lttng-relayd: the same
directories and files at both, each chunk a trace by itself with its events alone; viewers of `kymo relay` read over all of them."""
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_lttng import LTTNG, Watcher, check, emit, missing, run, sessiond
from lib_live import Live, LttngRelayd
from lib_net import private
from lib_relay import Relay
from matrix import attachable

MSG = re.compile(r'msg = "(\w+ \d+)"')
DATE = re.compile(r'\d{8}T?-?\d{6}([+-]\d{4})?')
WANTED = [{'one': 40, 'other': 20}, {'two': 50}, {'three': 30}, {'four': 10}]


def record(relay, session, buffers):
    """Four chunks, each with processes of its own; the last one is there until the end."""
    run(*LTTNG, 'create', session, f'--set-url=net://127.0.0.1:{relay.control}:{relay.data}')
    run(*LTTNG, 'enable-channel', '-u', '-s', session, f'--buffers-{buffers}', '--subbuf-size=16384', '--num-subbuf=8', 'c')
    run(*LTTNG, 'enable-event', '-u', '-s', session, '-c', 'c', 'lttng_ust_tracef:*')
    run(*LTTNG, 'start', session)
    for number, wanted in enumerate(WANTED):
        if number:
            run(*LTTNG, 'rotate', session)
        for program in [emit(name, count, 1000) for name, count in wanted.items()]:
            assert program.wait(300) == 0
    run(*LTTNG, 'stop', session)
    run(*LTTNG, 'destroy', session)


def directory(output, session):
    found = [os.path.join(path, name) for path, names, _ in os.walk(output) for name in names
             if name == session or name.startswith(session + '-')]
    assert len(found) == 1, found
    return found[0]


def shape(root, buffers):
    """Paths below, without dates and numbers of processes."""
    paths = {os.path.relpath(os.path.join(path, name), root) for path, _, names in os.walk(root) for name in names}
    return sorted({re.sub(r'/pid/[^/]*', '/pid/P', DATE.sub('DATE', path)) for path in paths if path.split('/')[-2:] != ['index', 'sync']}
                  if buffers == 'pid' else {DATE.sub('DATE', path) for path in paths if path.split('/')[-2:] != ['index', 'sync']})


def chunks(root):
    """Complete ones by number: those in archives/."""
    return sorted((os.path.join(root, 'archives', name) for name in os.listdir(os.path.join(root, 'archives'))),
                  key=lambda path: int(path.rsplit('-', 1)[1]))


def one(ours, theirs, buffers):
    session, shapes = f'rotated_{buffers}', []
    for relay in (theirs, ours):
        record(relay, session, buffers)
        root = directory(relay.output, session)
        shapes.append(shape(root, buffers))
        found = chunks(root)
        assert len(found) == len(WANTED), found
        for path, wanted in zip(found, WANTED):
            check(f'{relay.name}, {buffers}, {os.path.basename(path)}', MSG.findall(run('babeltrace2', path)), wanted)
    assert shapes[0] == shapes[1], set(shapes[0]) ^ set(shapes[1])
    everything = {name: count for wanted in WANTED for name, count in wanted.items()}
    attachable(ours, session)
    for name, seen in (('babeltrace2', Watcher(ours, session).events()),
                       ('kymo live', MSG.findall('\n'.join(Live(Live.url(ours, session)).wait())))):
        check(f'{name} over all chunks, {buffers}', seen, everything)
        order = list(dict.fromkeys(event.split()[0] for event in seen if event.split()[0] != 'other'))
        assert order == ['one', 'two', 'three', 'four'], order
    print(f'{buffers}: {len(shapes[0])} files in {len(WANTED)} chunks, as lttng-relayd has them')


def main():
    why = missing() or private(__file__, network=False, lttng=True)
    if why:
        print(f'skipped: {why}')
        return 77
    with sessiond(), Relay() as ours, LttngRelayd() as theirs:
        for buffers in ('uid', 'pid'):
            one(ours, theirs, buffers)
    return 0


if __name__ == '__main__':
    sys.exit(main())
