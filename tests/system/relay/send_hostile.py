#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo record --relay` of a relay that lies, or over a network that changes what is sent: the recorder and the relay end in order,
the program goes on, and the trace that is also written has each event. What is cut or delayed, and nothing else, is stored at the
relay, or the recorder says that it may not be.

usage: send_hostile.py [--rounds N] [--seed S]     N rounds (6), from seed S (1) on"""
import argparse
import os
import resource
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
import lib_send
from lib_liar import Liar
from lib_numbers import check
from lib_test import BUILD, KYMO, sanitized

MEMORY = (1 << 30) if sanitized() else 256 << 20
HONEST = 'cut', 'slow'        # TCP's own faults: no byte is changed
ENDS = {0: 'all is stored', 1: 'some may not be', 3: 'refused'}


def go(place, relay, seed):
    control = Liar(relay.control, seed, requests=seed // 8 % 2 == 1)
    data = Liar(relay.data, seed * 7 + 1 if seed % 3 == 0 else 1 + Liar.KINDS.index('slow'), requests=True)
    if seed % 3:
        data.rate = 0
    name, where = f'walk{seed}', f'seed {seed}: {control.kind} of {"requests" if control.requests else "replies"} from {control.after}'
    place.environment['KYMO_SPOOL_DIR'] = place.at(f'spool{seed}')
    done = subprocess.run(
        [KYMO, 'record', '-q', '-o', place.at(name), '--linger', '300ms', '--relay', f'net://127.0.0.1:{control.port}:{data.port}/{name}',
         '--', os.path.join(BUILD, 'tests/numbers'), '--threads', str(lib.THREADS), '--rate', '500', '--seconds', '0.4', place.at('noted')],
        env=place.environment, capture_output=True, text=True, timeout=300)
    for liar in control, data:
        liar.listener.close()
    check(done.returncode in ENDS, '%s: status %d: %s', where, done.returncode, done.stderr)
    check('Sanitizer' not in done.stderr and 'runtime error' not in done.stderr, '%s: %s', where, done.stderr)
    check(relay.process.poll() is None, '%s: the relay ended: %s', where, relay.said())
    found, lost, _ = lib.babeltrace(place.at(name))
    check(sum(map(len, found)) + lost == sum(place.noted()), '%s: %d events are in the trace, %d lost, of %d', where, sum(map(len, found)),
          lost, sum(place.noted()))
    words = done.stderr.strip().splitlines()
    if control.kind in HONEST and (not data.rate or data.kind in HONEST) and not words:
        stored = [set() for _ in range(lib.THREADS)]
        for session in relay.stored(name):
            for thread, numbers in enumerate(lib_send.read(session)):
                stored[thread].update(numbers)
        check(sum(map(len, stored)) == sum(map(len, found)), '%s: %d of %d events are stored, and nothing is said', where,
              sum(map(len, stored)), sum(map(len, found)))
    return f'{where}: status {done.returncode}: {words[-1] if words else ""}'


def hostile(place):
    with lib_send.KymoRelay() as relay:
        for seed in range(OPTIONS.seed, OPTIONS.seed + OPTIONS.rounds):
            print(go(place, relay, seed), flush=True)
        check('Sanitizer' not in relay.said() and 'runtime error' not in relay.said(), '%s', relay.said())
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    check(most < MEMORY, '%d MiB', most >> 20)


PARSER = argparse.ArgumentParser()
PARSER.add_argument('--rounds', type=int, default=6)
PARSER.add_argument('--seed', type=int, default=1)
OPTIONS = PARSER.parse_args()
lib.main('send_hostile.py', hostile)
