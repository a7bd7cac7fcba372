# SPDX-License-Identifier: Apache-2.0
"""The hook on the real rclpy, where it is installed."""
import os
import sys

import pytest


def test_callbacks(kymo_record, real):
    if not real['rclpy']:
        pytest.skip('no rclpy here')
    node = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'real_node.py')
    plain = kymo_record(['env', 'KYMO_RCLPY=0', sys.executable, node], timeout=60)
    assert plain.output == 'hooked\n'
    plain.assert_count('callback_start', 0, 0)
    plain.assert_count('rcl_publish', 5)
    for way in [sys.executable, node], [sys.executable, '-m', 'kymo.rclpy_hook', node]:
        look_at(kymo_record(way, timeout=60))


def look_at(recording):
    assert recording.output == 'hooked\n'
    recording.assert_callback('/talker /chatter', 5)
    recording.assert_callback('/talker timer 10 ms', 5)
    # Parameters are services, whose callbacks are rclpy's own.
    assert {row['symbol'] for row in recording.query('SELECT symbol FROM callbacks')} >= {
        '__main__.Talker.hear', '__main__.Talker.tick',
        'rclpy.parameter_service.ParameterService._get_parameters_callback'}
    assert recording.query('SELECT type FROM executors') == [{'type': 'single_threaded_executor'}]
    assert recording.query("SELECT count(*) AS n FROM timers WHERE callback_group_id <> ''") == [{'n': 1}]
