# SPDX-License-Identifier: Apache-2.0
"""Callbacks that await, from the hook to the answers: chains go through them, and no two coroutines are mixed."""
import json
import os
import subprocess
import sys

import pytest

import kymo

HERE = os.path.dirname(os.path.abspath(__file__))
MESSAGES = 8


@pytest.fixture
def recording(real, kymo_record):
    if real['rclpy']:
        pytest.skip('the real rclpy is here: test_real')
    recording = kymo_record([sys.executable, os.path.join(HERE, 'awaits_node.py')])
    assert recording.status == 0, recording.output
    return recording


def ask(*arguments):
    return json.loads(subprocess.run([kymo.find(), *arguments, '--format', 'json'], stdout=subprocess.PIPE, check=True).stdout)


def test_runs(recording):
    """Each run knows the first one, and what it awaited."""
    runs = recording.query("SELECT id, coroutine_id, is_resumed, awaits, awaited, awaited_ns FROM callback_instances "
                           "WHERE source = '/in' ORDER BY id")
    assert len(runs) == 3 * MESSAGES
    by_coroutine = {}
    for run in runs:
        by_coroutine.setdefault(run['coroutine_id'], []).append(run)
    assert len(by_coroutine) == MESSAGES
    for first, steps in by_coroutine.items():
        assert steps[0]['id'] == first
        assert [step['is_resumed'] for step in steps] == [0, 1, 1] and [step['awaits'] for step in steps] == [1, 1, 0]
        assert [step['awaited'] for step in steps] == [None, 'the response of /add', 'a sleep']
        assert steps[0]['awaited_ns'] is None and all(step['awaited_ns'] > 0 for step in steps[1:])


def test_flow(recording):
    flow = ask('flow', recording.trace, '/in -> /out', '--worst', '8')
    chain, = [chain for chain in flow['chains'] if chain['path'] == '/in -> /worker -> /out']
    assert chain['arrived'] == MESSAGES
    segments = {(row['segment'], row['step']): row for row in flow['segments'] if row['chain'] == 1}
    awaited, = [row for (segment, _), row in segments.items() if segment == 'awaited']
    assert awaited['where'] == '/worker' and awaited['count'] == MESSAGES and awaited['min_ns'] > 0
    totals = {row['rank']: row['total_ns'] for row in flow['worst']}
    for rank, total in totals.items():
        assert sum(row['ns'] for row in flow['worst_segments'] if row['rank'] == rank) == total
    tree = ask('flow', recording.trace, '--message', str(flow['worst'][0]['message']))['tree']
    worker, = [step for step in tree if step['what'] == '/worker /in']
    assert worker['awaited_ns'] >= 3e6, worker      # the program sleeps 3 ms in between
    # What was published before the await did not wait.
    early = ask('flow', recording.trace, '/in -> /early')
    assert 'awaited' not in [row['segment'] for row in early['segments']]


def test_no_mixing(recording):
    """Each message of /out is of the message that was received first by its coroutine."""
    rows = recording.query('''SELECT first.publication_id AS source, o.publication_id AS made FROM publications o
        JOIN callback_instances i ON i.id = o.callback_instance_id
        JOIN callback_instances first ON first.id = i.coroutine_id WHERE o.topic_name = '/out' ORDER BY made''')
    sources = [row['publication_id'] for row in recording.query(
        "SELECT publication_id FROM publications WHERE topic_name = '/in' ORDER BY publication_id")]
    swapped = [source for pair in zip(sources[1::2], sources[::2]) for source in pair]
    assert [row['source'] for row in rows] == swapped


def test_why(recording):
    why = ask('why', recording.trace, '/in -> /out')
    kinds = {(part['kind'], part['by']) for part in why['parts']}
    assert {('awaited', 'the response of /add'), ('awaited', 'a sleep')} <= kinds, why['parts']
    assert sum(part['ns'] for part in why['parts'] if part['rank'] == 1) == why['latency_ns']
    assert {part['who'] for part in why['parts'] if part['kind'] == 'awaited'} == {'the response of /add', 'a sleep'}
    callback = ask('why', recording.trace, '/worker /in')
    assert 'awaited' in [part['kind'] for part in callback['parts']] and callback['count'] == MESSAGES


def test_perfetto_and_page(recording, tmp_path):
    out = str(tmp_path / 'out.json')
    subprocess.run([kymo.find(), 'export', recording.trace, '--format', 'chrome', '-o', out], check=True)
    with open(out, encoding='utf-8') as file:
        names = [event.get('name') for event in json.load(file)['traceEvents']]
    assert names.count('/worker awaited the response of /add') == MESSAGES
    assert names.count('/worker awaited a sleep') == MESSAGES
    page = str(tmp_path / 'page.html')
    subprocess.run([kymo.find(), 'report', recording.trace, '--html', '-o', page], check=True)
    assert os.path.getsize(page) > 0
