# SPDX-License-Identifier: Apache-2.0
"""The hook on the real rclpy, where it is installed."""
import json
import os
import subprocess
import sys

import pytest

import kymo

HERE = os.path.dirname(os.path.abspath(__file__))


def test_callbacks(kymo_record, real):
    if not real['rclpy']:
        pytest.skip('no rclpy here')
    node = os.path.join(HERE, 'real_node.py')
    plain = kymo_record(['env', 'KYMO_RCLPY=0', sys.executable, node], timeout=60)
    assert plain.output.endswith('hooked\n')      # after what the middleware says
    plain.assert_count('callback_start', 0, 0)
    plain.assert_count('rcl_publish', 5)
    for way in [sys.executable, node], [sys.executable, '-m', 'kymo.rclpy_hook', node]:
        look_at(kymo_record(way, timeout=60))


def look_at(recording):
    assert recording.output.endswith('hooked\n')
    recording.assert_callback('/talker /chatter', 5)
    recording.assert_callback('/talker timer 10 ms', 5)
    # Parameters are services, whose callbacks are rclpy's own.
    assert {row['symbol'] for row in recording.query('SELECT symbol FROM callbacks')} >= {
        '__main__.Talker.hear', '__main__.Talker.tick',
        'rclpy.parameter_service.ParameterService._get_parameters_callback'}
    assert recording.query('SELECT type FROM executors') == [{'type': 'single_threaded_executor'}]
    assert recording.query("SELECT count(*) AS n FROM timers WHERE callback_group_id <> ''") == [{'n': 1}]


def test_awaits(kymo_record, real):
    """A callback that awaits a response: the executor goes on with it several times, and the chain goes through it."""
    if not real['rclpy']:
        pytest.skip('no rclpy here')
    recording = kymo_record([sys.executable, os.path.join(HERE, 'real_awaits_node.py')], timeout=90)
    assert recording.output.endswith('heard 20\n'), recording.output
    runs = recording.query("SELECT coroutine_id, is_resumed, awaits, awaited, awaited_ns FROM callback_instances "
                           "WHERE source = '/in' ORDER BY id")
    first = [run for run in runs if not run['is_resumed']]
    last = [run for run in runs if not run['awaits']]
    assert len(runs) == 40      # the executor polls the future in each of its rounds: polls are no runs
    assert len(first) == len(last) == len({run['coroutine_id'] for run in runs}) == 20
    assert {run['awaited'] for run in runs if run['is_resumed']} == {'the response of /ask'}
    flow = json.loads(subprocess.run([kymo.find(), 'flow', recording.trace, '/in -> /out', '--format', 'json'],
                                     stdout=subprocess.PIPE, check=True).stdout)
    chain, = [chain for chain in flow['chains'] if chain['path'] == '/in -> /worker -> /out']
    assert chain['arrived'] == 20
    awaited, = [row for row in flow['segments'] if row['segment'] == 'awaited']
    assert awaited['count'] == 20 and awaited['min_ns'] >= 3e6, awaited     # the server sleeps so long
