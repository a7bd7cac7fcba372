#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The matrix {kymo record, lttng-consumerd} x {kymo relay, lttng-relayd} x {kymo live, babeltrace2}: every event of a run
once and in order, at every viewer and in the relay's files. A table of runs below says in which circumstances; the seven
combinations with kymo in them are run always, KYMO_MATRIX=all adds the eighth and more circumstances."""
import contextlib
import os
import re
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_lttng
from lib_lttng import LTTNG, ROOM, check, missing, run, sessiond
from lib_live import Live, LttngRelayd
from lib_net import private
from lib_numbers import Place, end_well
from lib_relay import Relay, Viewer
from lib_test import BUILD, until

MSG = re.compile(r'msg = "(\w+ \d+)"')


# ---- who sends ----

class Lttng:
    """A real lttng-consumerd. An idle channel, and streams of idle CPUs, are always with it."""
    name, streams = 'lttng-consumerd', 'ust/uid'

    def begin(self, relay, session, buffers, live):
        self.session = session
        url = f'--set-url=net://127.0.0.1:{relay.control}:{relay.data}'
        run(*LTTNG, 'create', session, *(['--live=100000'] if live else []), url)
        for channel, event in (('c', 'lttng_ust_tracef:*'), ('c', 'lttng_ust_tracelog:*'), ('idle', 'lttng_ust_statedump:*')):
            if event != 'lttng_ust_tracelog:*':
                run(*LTTNG, 'enable-channel', '-u', '-s', session, f'--buffers-{buffers}',
                    *(ROOM if buffers == 'uid' else []), channel)
            run(*LTTNG, 'enable-event', '-u', '-s', session, '-c', channel, event)
        run(*LTTNG, 'start', session)

    def emit(self, *arguments):
        return subprocess.Popen([lib_lttng.EVENTS, *arguments])

    def rotate(self):
        run(*LTTNG, 'rotate', self.session)

    def clear(self):
        run(*LTTNG, 'clear', self.session)

    def end(self):
        run(*LTTNG, 'stop', self.session)
        run(*LTTNG, 'destroy', self.session)

    def close(self):
        pass


class Kymo:
    """`kymo record --relay`. Programs that declare events have a trace each, so streams and metadata come late."""
    name, streams = 'kymo record', 'ust/pid'

    def begin(self, relay, session, *_):
        self.stack = contextlib.ExitStack()
        self.place = self.stack.enter_context(Place())
        self.place.environment['KYMO_SPOOL_DIR'] = self.place.at('spool')
        self.recorder = self.place.recorder('--relay', f'net://127.0.0.1:{relay.control}:{relay.data}/{session}')

    def emit(self, *arguments):
        return subprocess.Popen([os.path.join(BUILD, 'tests', 'kymo_events'), *arguments], env=self.place.environment)

    def end(self):
        end_well(self.recorder)

    def close(self):
        self.stack.close()


# ---- who watches ----

class Babeltrace(lib_lttng.Watcher):
    """It ends when the session is over; a session that is not there yet is none, so it is begun when there is one."""

    def __init__(self, relay, session):
        relay_has(relay, session)
        super().__init__(relay, session)


class KymoLive:
    def __init__(self, relay, session):
        self.live = Live(Live.url(relay, session))
        self.lines = self.live.lines

    def events(self):
        return MSG.findall('\n'.join(self.live.wait()))


def relay_has(relay, session):
    """Waits until the relay lists the session."""
    until(f'session {session}', lambda: session in subprocess.run(
        ['babeltrace2', '-i', 'lttng-live', f'net://127.0.0.1:{relay.live}'], capture_output=True, text=True).stdout)


def attachable(relay, session):
    """Waits until viewers may attach: to sessions that are not live, when the relay has seen their end."""
    viewer = Viewer(relay.live)
    viewer.create()
    number = next(listed[0] for listed in viewer.sessions() if listed[5] == session)
    until('the end of the session', lambda: viewer.attach(number)[0] == 1)
    viewer.close()


# ---- the table ----

KYMO_RELAY, LTTNG_RELAYD = Relay, LttngRelayd
BOTH = [Babeltrace, KymoLive]

# (run always?, what, who sends, relay, viewers of one session, buffers, circumstances). lttng-relayd takes one viewer of a
# session, and babeltrace2 ends, with it, when a stream comes that has events older than what it has shown: no late ones there.
# lttng-relayd drops the last packets of a process that has ended: nothing per process there.
# Nor does babeltrace2 learn of streams while all that it knows are silent, as those of kymo's facts are: it joins when there are events.
RUNS = [
    (True, 'several viewers', Kymo, KYMO_RELAY, 2 * BOTH, 'uid', ('late',)),
    (True, 'several viewers', Lttng, KYMO_RELAY, 2 * BOTH, 'uid', ('late',)),
    (True, 'a viewer', Kymo, LTTNG_RELAYD, [Babeltrace], 'uid', ('joins',)),
    (True, 'a viewer', Kymo, LTTNG_RELAYD, [KymoLive], 'uid', ('late',)),
    (False, 'a viewer', Lttng, LTTNG_RELAYD, [Babeltrace], 'uid', ('joins',)),
    (True, 'a viewer', Lttng, LTTNG_RELAYD, [KymoLive], 'uid', ('late',)),
    (False, 'per process', Lttng, KYMO_RELAY, 2 * BOTH, 'pid', ('late',)),
    (False, 'clear', Lttng, KYMO_RELAY, BOTH, 'uid', ('clear', 'late')),
    (False, 'clear', Lttng, LTTNG_RELAYD, [KymoLive], 'uid', ('clear',)),
    (False, 'behind the end', Kymo, KYMO_RELAY, BOTH, 'uid', ('late', 'ended')),
    (False, 'behind the end', Lttng, KYMO_RELAY, BOTH, 'pid', ('late', 'ended')),
    (False, 'not live', Lttng, KYMO_RELAY, BOTH, 'uid', ('late', 'ended', 'rotated')),
]


def finished(program):
    assert program.wait(300) == 0


def one(number, what, sender, relay, viewers, buffers, circumstances):
    session, wanted = f'matrix{number}', {'first': 200}
    sender.begin(relay, session, buffers, 'rotated' not in circumstances)
    if 'clear' in circumstances:
        finished(sender.emit('gone', '100', '500'))
        sender.clear()
    watchers = [] if {'ended', 'joins'} & {*circumstances} else [viewer(relay, session) for viewer in viewers]
    if 'joins' in circumstances:
        wanted['first'] = 1000
    first = sender.emit('first', str(wanted['first']), '2000')
    if 'joins' in circumstances:
        until('a packet', lambda: any(session in path and sender.streams in path and path.endswith('index') and names
                                      for path, _, names in os.walk(relay.output)))
        watchers = [viewer(relay, session) for viewer in viewers]
    if 'late' in circumstances:         # a process, its streams, and an event that nobody knew, while others go on
        if watchers:
            until('events at the viewers', lambda: all(len(watcher.lines()) > 5 for watcher in watchers))
        wanted['second'] = 100
        finished(sender.emit('second', '100', '1000', 'log'))
    finished(first)
    if 'rotated' in circumstances:      # which LTTng does with sessions only that are not live
        sender.rotate()
        wanted['third'] = 50
        finished(sender.emit('third', '50', '500'))
    if not watchers:
        sender.end()
        attachable(relay, session)
        watchers = [viewer(relay, session) for viewer in viewers]
    elif relay.name != KYMO_RELAY.name:
        # lttng-relayd forgets what was not fetched when the session ends.
        last = f'"first {wanted["first"] - 1}"'
        until('all events at the viewer', lambda: all(
            any(last in line for line in watcher.lines()) and
            ('joins' in circumstances or len(watcher.lines()) >= sum(wanted.values())) for watcher in watchers))
        sender.end()
    else:
        sender.end()
    for watcher in watchers:
        if 'joins' in circumstances:    # from there on
            shown = watcher.events()
            assert shown and shown == [f'first {i}' for i in range(1000 - len(shown), 1000)], (len(shown), shown[:3])
            continue
        check(f'{what}: {sender.name}, {relay.name}, {type(watcher).__name__}', watcher.events(), wanted)
    found = MSG.findall(run('babeltrace2', files(relay.output, session)))
    check(f'{what}: {sender.name}, {relay.name}, files', found, wanted)


def files(output, session):
    """The directory of the session."""
    found = [os.path.join(path, name) for path, names, _ in os.walk(output) for name in names
             if name == session or name.startswith(session + '-')]
    assert len(found) == 1, found
    return found[0]


def main():
    why = missing() or private(__file__, network=False, lttng=True)
    if why:
        print(f'skipped: {why}')
        return 77
    with sessiond(), KYMO_RELAY() as ours, LTTNG_RELAYD() as theirs:
        for number, (always, what, sends, kind, viewers, buffers, circumstances) in enumerate(RUNS):
            if not always and os.environ.get('KYMO_MATRIX') != 'all':
                continue
            sender, relay = sends(), ours if kind is KYMO_RELAY else theirs
            try:
                one(number, what, sender, relay, viewers, buffers, circumstances)
            finally:
                sender.close()
            print(f'{what}{"".join(f", {word}" for word in circumstances)}: {sender.name}, {relay.name},',
                  ', '.join(viewer.__name__ for viewer in viewers))
    return 0


if __name__ == '__main__':
    sys.exit(main())
