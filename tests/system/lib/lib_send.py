# SPDX-License-Identifier: Apache-2.0
"""Relays to send to, kymo's and LTTng's, that can be stopped, killed and begun again; what they have stored; viewers."""
import functools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile

import lib_numbers as lib
from lib_numbers import check
from lib_test import KYMO

HOST = socket.gethostname()
LOST = re.compile(r'(\d+) packets with (\d+) events were lost on the way')
DROPPED = re.compile(r'(\d+) events were dropped')     # by the program: the recorder was not given a CPU for long


def free_port():
    with socket.socket() as some:
        some.bind(('127.0.0.1', 0))
        return some.getsockname()[1]


class Watcher:
    """babeltrace2 as a live viewer; it ends by itself when the session has ended and all was shown."""

    def __init__(self, relay, session):
        self.out = tempfile.TemporaryFile('w+')
        self.err = tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(
            ['babeltrace2', '--no-delta', '-i', 'lttng-live', f'net://127.0.0.1:{relay.live}/host/{HOST}/{session}',
             '--params', 'session-not-found-action="end"'], stdout=self.out, stderr=self.err)

    def text(self):
        self.out.seek(0)
        return self.out.read()

    def count(self):
        check(self.process.poll() is None, 'babeltrace2 ended with %s: %s', self.process.poll(), self.said())
        return self.text().count(lib.EVENT)

    def said(self):
        self.err.seek(0)
        return self.err.read()

    def check(self, stored, from_beginning):
        """It has shown what is @stored, [thread][numbers]: all of it, or from where it came."""
        status = self.process.wait(300)
        check(status == 0, 'babeltrace2 ended with %d: %s', status, self.said()[-2000:])
        shown = lib.numbers_in(self.text())
        for thread, numbers in enumerate(shown):
            want = stored[thread] if from_beginning or not numbers else stored[thread][-len(numbers):]
            check(numbers == want, 'thread %d: the viewer has shown %d events, %d are stored; %s', thread, len(numbers),
                  len(stored[thread]), self.said()[-500:])
        check(any(shown), 'the viewer has shown nothing')


class Relay:
    """
    One of a kind on free ports, in a directory of its own. Begun again, it has the same ports and directory. @inside: what
    to put before its command, so that it runs elsewhere, where it has the address @host.
    """
    from_beginning = True
    resumes = False

    def __init__(self, *options, host='127.0.0.1', inside=()):
        self.options, self.host, self.inside = options, host, inside
        self.dir = tempfile.mkdtemp(prefix='kymo-send-')
        self.output = os.path.join(self.dir, 'traces')
        self.control, self.data, self.live = free_port(), free_port(), free_port()
        self.log = open(os.path.join(self.dir, 'log'), 'a+')
        self.process = None

    def begin(self):
        """A port may have been taken meanwhile: then it ends at once, and is begun on others."""
        for attempt in range(10):
            self.process = self.spawn()
            lib.wait_for('the relay', lambda: self.process.poll() is not None or self.listens())
            if self.process.poll() is None:
                return
            check(attempt < 9, 'no relay: %s', self.said())
            self.control, self.data, self.live = free_port(), free_port(), free_port()

    def listens(self):
        """At all its ports: a sender that finds only some begins anew."""
        def answers(port):
            with socket.socket() as some:
                return some.connect_ex((self.host, port)) == 0
        return all(map(answers, (self.control, self.data, self.live)))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def said(self):
        self.log.flush()
        with open(self.log.name) as log:
            return log.read()

    def url(self, session='', scheme='net'):
        return f'{scheme}://{self.host}:{self.control}:{self.data}/{session}'

    def watch(self, session):
        return Watcher(self, session)

    def stored(self, session):
        """The directories of sessions of that name, the oldest first."""
        found = [os.path.join(where, name) for where, names, _ in os.walk(self.output) for name in names
                 if name == session or name.startswith(session + '-')]
        return sorted(found, key=lambda path: os.stat(path).st_ctime_ns)

    def until_session(self, session):
        lib.wait_for('the session', lambda: self.stored(session))

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(300)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if kind:
            print(self.said()[-2000:])
        self.log.close()
        shutil.rmtree(self.dir)


class KymoRelay(Relay):
    name = 'kymo relay'
    resumes = True

    def spawn(self):
        return subprocess.Popen([*self.inside, KYMO, 'relay', '-q', '-o', self.output, '--bind', self.host, '--control',
                                 str(self.control), '--data', str(self.data), '--live', str(self.live), *self.options],
                                stdout=self.log, stderr=self.log)


class DatagramRelay(KymoRelay):
    """It takes datagrams, too, at a port that is known: .datagrams."""

    def __init__(self, *options, **kwargs):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as some:
            some.bind(('127.0.0.1', 0))
            self.datagrams = some.getsockname()[1]
        super().__init__('--datagram', str(self.datagrams), *options, **kwargs)

    def datagram_url(self, session, port=''):
        return f'udp://{self.host}:{self.control}{port and ":"}{port}/{session}'


class LttngRelay(Relay):
    name = 'lttng-relayd'
    from_beginning = False

    def spawn(self):
        return subprocess.Popen(
            ['lttng-relayd', '-o', self.output, '-C', f'tcp://127.0.0.1:{self.control}', '-D',
             f'tcp://127.0.0.1:{self.data}', '-L', f'tcp://127.0.0.1:{self.live}', *self.options],
            stdout=self.log, stderr=self.log, env=dict(os.environ, LTTNG_HOME=self.dir, HOME=self.dir))


RELAYS = [KymoRelay] + ([LttngRelay] if shutil.which('lttng-relayd') else [])


def each(*tests, kinds=RELAYS):
    """Each of @tests with every kind of relay."""
    for test in tests:
        for kind in kinds:
            one = functools.partial(test, kind)
            one.__name__ = f'{test.__name__}, {kind.name}'
            yield one


def complete(paths, twice=False):
    """
    What the sessions have together: (numbers of each thread in order, events lost). Each has its names. With @twice,
    one may begin with what the one before it ends with: of a relay that was killed, which cannot be asked.
    """
    found, lost, sessions = [[] for _ in range(lib.THREADS)], 0, []
    for path in paths:
        numbers, missing, others = lib.babeltrace(path, torn=twice)
        check(any('ros2:rcl_init' in line for line in others), '%s has no facts', path)
        lib.once(path, numbers, missing)
        lost += missing
        sessions.append(numbers)
    # Two that are sent at the same time begin in any order.
    for thread in range(lib.THREADS):
        for numbers in sorted(session[thread] for session in sessions):
            last = found[thread][-1] if twice and found[thread] else 0
            found[thread] += [number for number in numbers if number > last]
    lib.once(', '.join(paths), found, lost)
    return found, lost


def sink(place):
    """How `kymo sink list` describes the relay."""
    done = subprocess.run([KYMO, 'sink', 'list', '--format', 'json'], env=place.environment, capture_output=True, text=True)
    return next((one for one in json.loads(done.stdout)['sinks'] if one['kind'] == 'relay'), {}) if not done.returncode else {}


def process(place):
    """How `kymo status` describes the program."""
    return next(one for one in json.loads(place.kymo('status', '--format', 'json', '-i', '0'))['processes'])


def certificate(place):
    """A certificate for the name localhost. Return: False: there is no openssl to make it with."""
    return subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
                           '-days', '30', '-subj', '/CN=relay', '-addext', 'subjectAltName=DNS:localhost', '-keyout',
                           place.at('key.pem'), '-out', place.at('cert.pem')], capture_output=True).returncode == 0


def token(place, name, text):
    with open(os.open(place.at(name), os.O_CREAT | os.O_WRONLY, 0o600), 'w') as file:
        file.write(text + '\n')
    return place.at(name)


# ---- a recorder that sends, a program, and their accounts ----

def begin(place, url, *options, rate=2000):
    """(recorder, program)"""
    place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
    recorder = place.recorder('--relay', url, *options)
    return recorder, place.numbers(rate=rate)


def until_noted(place, more):
    """The program goes on, whatever the relay does."""
    now = min(place.noted())
    lib.wait_for('the program', lambda: min(place.noted()) >= now + more)


def until_connected(place):
    lib.wait_for('a connection', lambda: sink(place).get('relay') == 'connected')


def lost_by_now(place):
    """Events that the recorder has counted as lost on the way."""
    return int(re.search(r'"lost_on_the_way": *(\d+)', place.kymo('status', '--format', 'json', '-i', '0'))[1])


def account(place, recorder, program, relay, sessions=1):
    """
    Ends both. What was made is stored once, was dropped by the program, or was lost on the way, to the event.
    Return: events lost on the way.
    """
    lib.end_well(program)
    status, said = lib.end(recorder)
    check(status == 0, 'the recorder ended with %d: %s', status, said)
    counted, dropped = (re.search(pattern, said) for pattern in (LOST, DROPPED))
    lost = int(counted[2]) if counted else 0
    stored = relay.stored('robot')
    check(len(stored) >= sessions, 'sessions: %s', stored)      # a connection that broke for once is no fault
    found = [[] for _ in range(lib.THREADS)]
    for session in stored:
        for thread, numbers in enumerate(read(session)):
            found[thread] += numbers
    for thread in found:
        check(len(thread) == len(set(thread)), 'events are there twice')
    missing = sum(place.noted()) - sum(map(len, found))
    check(missing == lost + (int(dropped[1]) if dropped else 0), '%d of %d are missing, %d are counted: %s', missing,
          sum(place.noted()), lost, said)
    return lost


def read(session):
    """The numbers of each thread that a session has, be packets missing or not."""
    text = subprocess.run(['babeltrace2', '--no-delta', session], capture_output=True, text=True, timeout=300)
    check(text.returncode == 0, 'babeltrace2: %s', text.stderr)
    numbers = lib.numbers_in(text.stdout)
    for thread in numbers:
        check(thread == sorted(thread), 'out of order')
    return numbers
