#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo live` of a relay that lies: sizes and numbers that are wrong, replies that are cut, repeated without end, or come byte by
byte, silence. live ends with an error or shows what it can; it never crashes, hangs on Ctrl-C, or takes memory without a limit.

A proxy between live and a real relay changes what the relay answers; a seed says how.

usage: live_hostile.py [--rounds N] [--seed S]     N rounds (8), from seed S (1) on"""
import argparse
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_liar import Liar
from lib_relay import Relay
from lib_test import BUILD, KYMO, running, sanitized, until

NUMBERS = os.path.join(BUILD, 'tests/numbers')
MEMORY = (1 << 30) if sanitized() else 256 << 20


@contextlib.contextmanager
def recording(relay, directory):
    """A session that goes on."""
    command = [KYMO, 'record', '-q', '-o', os.path.join(directory, 'trace'), '--relay', f'net://127.0.0.1:{relay.control}:{relay.data}/walk',
               '--', NUMBERS, '--threads', '3', '--rate', '300', '--seconds', '100000', os.path.join(directory, 'counts')]
    with running(*command, env=dict(os.environ, KYMO_DIR=os.path.join(directory, 'run'))) as recorder:
        try:
            yield
        finally:
            recorder.terminate()        # and it ends the program
            recorder.wait(300)


def session_of(relay):
    done = subprocess.run([KYMO, 'live', f'net://127.0.0.1:{relay.live}', '--format', 'json'], capture_output=True, check=True)
    return [f"/host/{session['host']}/{session['session']}" for session in json.loads(done.stdout)['sessions'] if session['streams'] > 2]


def look(relay, session, seed):
    """Return: how it ended. It may be shown what is wrong, and wait for more: then Ctrl-C ends it."""
    liar = Liar(relay.live, seed)
    place = '' if liar.draw.random() < 0.2 else session
    options = liar.draw.choice((['-n', '500'], ['--top', '--interval', '50ms'], ['--format', 'json'], ['--now'], ['--reconnect', '-n', '90']))
    options = options if place else []  # a list of sessions takes none
    process = subprocess.Popen([KYMO, 'live', f'net://127.0.0.1:{liar.port}{place}', *options], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    waited = ''
    try:
        said = process.communicate(timeout=1)[1]
    except subprocess.TimeoutExpired:
        waited = ', waited until Ctrl-C'
        process.send_signal(signal.SIGINT)
        try:
            said = process.communicate(timeout=300)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[1]
            raise AssertionError(f'seed {seed}: {liar.kind}: it did not end with Ctrl-C: {said}') from None
    liar.listener.close()
    where = f'seed {seed}: {liar.kind} from byte {liar.after} on, {place} {options}'
    ended = (0, 1, 3, 4, 6, -signal.SIGINT) if waited else (0, 1, 3, 4, 6)      # Ctrl-C may come when it has nearly ended
    assert process.returncode in ended, f'{where}: status {process.returncode}: {said}'
    assert 'Sanitizer' not in said and 'runtime error' not in said, f'{where}: {said}'
    return f'{where}: status {process.returncode}{waited}: {said.splitlines()[-1] if said else ""}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', type=int, default=8)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    with Relay() as relay, tempfile.TemporaryDirectory(prefix='kymo-hostile-') as directory:
        with recording(relay, directory):
            session, = until('the session', lambda: session_of(relay))
            for seed in range(options.seed, options.seed + options.rounds):
                print(look(relay, session, seed), flush=True)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    assert most < MEMORY, f'{most >> 20} MiB'
    print(f'{options.rounds} rounds, at most {most >> 20} MiB')


main()
