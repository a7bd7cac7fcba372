#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Processes that start, emit and end within milliseconds, while somebody records: every one is in the trace with every
event, however it ended, and nothing of it is left."""
import json
import os
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import libctf
from lib_test import BUILD, KYMO, in_directory

EVENTS = 20
BRIEF_NS = 5000000
STATES = {'_exit': 'killed', 'exit': 'exited', 'kill': 'killed'}    # _exit() runs nothing of ours


def check(what, condition, *seen):
    if not condition:
        raise libctf.Mismatch('%s: %s' % (what, ' '.join(map(str, seen))))


def run(what, environment, runtime, trace, count, at_once):
    """Return: lifetimes, ns."""
    recorder = subprocess.Popen([KYMO, 'record', '-q', '-o', trace], env=environment)
    try:
        libctf.wait_for('the recorder', lambda: os.path.exists(os.path.join(runtime, 'control')))
        lines = subprocess.run([KYMO, 'run', '--', os.path.join(BUILD, 'tests/brief'), str(count), str(at_once),
                                str(EVENTS)], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    finally:
        recorder.send_signal(signal.SIGINT)
        status = recorder.wait(timeout=300)
    check(what, status == 0, 'the recorder ended with', status)
    ended = [(int(pid), int(ns), how) for pid, ns, how in map(str.split, lines.splitlines())]
    check(what, len(ended) == count, 'ended', len(ended))

    account = json.load(open(os.path.join(trace, 'kymo.json')))
    processes = {}
    for process in account['processes']:
        check(what, process['pid'] not in processes, process['pid'], 'is there twice')
        processes[process['pid']] = process
    check(what, set(processes) == {pid for pid, _, _ in ended}, len(processes), 'processes in the trace')
    for pid, _, how in ended:
        process = processes[pid]
        check(what, (process['recorded'], process['dropped'], process['init_events'], process['init_dropped'],
                     process['state']) == (EVENTS, 0, 1, 0, STATES[how]), how, process)

    found = libctf.read_trace(trace)
    check(what, len(found) == count, 'threads with events', len(found))
    for (pid, _), lane in found.items():
        numbers = [event.fields[1][1] for event in lane.events if event.name == 'ros2:rcl_publish']
        check(what, numbers == list(range(1, EVENTS + 1)), pid, numbers)
        check(what, sum(event.name == 'ros2:rcl_init' for event in lane.events) == 1, pid, 'has no rcl_init')
    left = [name for name in os.listdir(runtime) if name != 'domain']
    check(what, not left, 'left behind', left)
    return [ns for _, ns, _ in ended]


def main(root):
    runtime = os.path.join(root, 'run')
    os.mkdir(runtime, 0o700)
    environment = dict(os.environ, KYMO_DIR=runtime)
    for name in 'KYMO_SESSION', 'KYMO_FLIGHT', 'KYMO_RING_SIZE':
        environment.pop(name, None)
    brief = 0
    for number, (count, at_once) in enumerate(((60, 1), (120, 16), (90, 3))):
        lives = run('%d processes, %d at once' % (count, at_once), environment, runtime,
                    os.path.join(root, 'trace%d' % number), count, at_once)
        brief += sum(ns <= BRIEF_NS for ns in lives)
        print('%d at once: the shortest lived %.1f ms, half of them %.1f ms at most'
              % (at_once, min(lives) / 1e6, sorted(lives)[len(lives) // 2] / 1e6))
    print('%d lived for 5 ms or less' % brief)


in_directory(main)
