#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""What becomes of the clocks while something is recorded: the wall clock is set, the machine sleeps, NTP slews. The recorder
says it, its accounts hold it, kymo info shows it. The clocks of this machine stay as they are: the recorder reads others
(tests/preload/set_clocks.c), and of hours there are made-up accounts."""
import json
import os
import signal
import struct
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
from lib_numbers import check

PRELOAD = os.path.join(lib.BUILD, 'tests/libset_clocks.so')
S = 10 ** 9


def clocks(place, set_ns, slept_ns):
    part = place.at('clocks.part')
    with open(part, 'wb') as f:
        f.write(struct.pack('<qq', set_ns, slept_ns))
    os.rename(part, place.at('clocks'))


def record(place, trace, set_ns, slept_ns):
    """The clocks change while it records."""
    clocks(place, 0, 0)
    place.environment['KYMO_TEST_CLOCKS'] = place.at('clocks')
    place.environment['LD_PRELOAD'] = PRELOAD
    recorder = place.recorder('-o', trace)
    del place.environment['LD_PRELOAD']
    program = place.numbers()
    clocks(place, set_ns, slept_ns)
    lib.end(program, signal.SIGTERM)
    status, said = lib.end(recorder)
    check(status == 0, 'the recorder ended with %d: %s', status, said)
    return said


def about(value, wanted):
    return abs(value - wanted) < 50e6       # between two looks the machine may be busy


def set_back(place):
    trace = place.at('trace')
    said = record(place, trace, -3600 * S, 0)
    check('the wall clock was set by -3600.' in said or 'the wall clock was set by -3599.9' in said, 'said: %s', said)
    changes = lib.accounts(trace)['clock_changes']
    check(changes['set'] == 1 and about(changes['set_ns'], -3600 * S) and not changes['slept'], '%s', changes)
    info = json.loads(place.kymo('info', trace, '--format', 'json'))
    check(about(info['clock_set_ns'], -3600 * S), '%s', info.get('clock_set_ns'))
    found, lost, _ = lib.babeltrace(trace)
    lib.once(trace, found, lost)


def slept(place):
    trace = place.at('trace')
    said = record(place, trace, 0, 8 * 3600 * S)
    check('the machine slept for 28800.' in said or 'the machine slept for 28799.9' in said, 'said: %s', said)
    changes = lib.accounts(trace)['clock_changes']
    check(changes['slept'] == 1 and about(changes['slept_ns'], 8 * 3600 * S) and not changes['set'], '%s', changes)
    info = json.loads(place.kymo('info', trace, '--format', 'json'))
    check(about(info['slept_ns'], 8 * 3600 * S), '%s', info.get('slept_ns'))


def drift(place):
    """An hour: the wall clock runs 5 ppm faster and was set once, and NTP slews by 100 ppm from the middle on."""
    trace = place.at('trace')
    recorder, program = place.recorder('-o', trace), place.numbers()
    lib.end_well(program, signal.SIGTERM)
    lib.end_well(recorder)
    check('wall_drift_ppm' not in json.loads(place.kymo('info', trace, '--format', 'json')), 'of a moment')
    accounts, looks = lib.accounts(trace), []
    for i in range(361):
        at = i * 10 * S
        looks.append({'monotonic_ns': S + at, 'realtime_ns': 1700000000 * S + at + at * 5 // 10 ** 6 + (2 * S if i > 7 else 0),
                      'boottime_ns': S + at, 'tai_ns': 0,
                      'counter': 10 ** 12 + 3 * at - (3 * (at - 1800 * S) // 10 ** 4 if at > 1800 * S else 0)})
    accounts['clocks'] = looks
    accounts['clock_changes'] = {'slept': 0, 'slept_ns': 0, 'set': 1, 'set_ns': 2 * S}
    with open(os.path.join(trace, 'kymo.json'), 'w') as f:
        json.dump(accounts, f)
    info = json.loads(place.kymo('info', trace, '--format', 'json'))
    check(abs(info['wall_drift_ppm'] - 5) < 1e-3, '%s', info['wall_drift_ppm'])
    check(abs(info['counter_drift_ppm'] + 100) < 1e-3, '%s', info['counter_drift_ppm'])
    check('Wall clock runs ahead: 5 ppm' in place.kymo('info', trace), 'info does not show it')


if not os.path.exists(PRELOAD):
    print("skipped: the preload library is not built")
    sys.exit(77)
# A sanitizer asks for the time before anything else may run.
with open(lib.KYMO, 'rb') as program:
    names = program.read()
sanitized = b'__asan_init' in names or b'__tsan_init' in names
lib.main('clocks.py', *([] if sanitized else [set_back, slept]), drift)
