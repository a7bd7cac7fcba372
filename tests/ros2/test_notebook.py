# SPDX-License-Identifier: Apache-2.0
"""The notebook of examples/notebook: its cells run on a recording of the robot, and every plot gets the data that it is about."""
import json
import os
import sys
import types

import kymo
import kymo.testing
import pytest

pandas = pytest.importorskip('pandas')


@pytest.fixture
def plots(monkeypatch):
    """What is plotted, as (kind, data, options): in place of matplotlib, which draws it."""
    drawn = []
    backend = types.ModuleType('noted_plots')
    backend.plot = lambda data, kind, **options: drawn.append((kind, data, options))
    monkeypatch.setitem(sys.modules, backend.__name__, backend)
    with pandas.option_context('plotting.backend', backend.__name__):
        yield drawn


def test_cells(plots, tmp_path, monkeypatch):
    build, source = os.environ['KYMO_BUILD'], os.environ['KYMO_SOURCE']
    monkeypatch.setenv('ROS_TRACE_DIR', str(tmp_path))
    kymo.testing.record([f'{build}/robot/robot', '--seconds', '1'], output=tmp_path / 'session-20260101000000')
    with open(f'{source}/examples/notebook/robot.ipynb', encoding='utf-8') as file:
        book = json.load(file)
    assert (book['nbformat'], book['metadata']['kernelspec']['language']) == (4, 'python')
    names = {}
    for cell in book['cells']:
        if cell['cell_type'] == 'code':
            assert cell['outputs'] == [] and cell['execution_count'] is None
            exec(''.join(cell['source']), names)

    counts = {row['callback']: row['n'] for row in kymo.query('SELECT callback, count(*) AS n FROM callback_instances GROUP BY 1')}
    worst = kymo.query('SELECT callback, duration_ns FROM callback_instances ORDER BY 2 DESC LIMIT 1')[0]
    assert [kind for kind, _, _ in plots] == ['box', 'scatter', 'hist', 'line', 'barh']
    (_, box, _), (_, scatter, words), (_, hist, _), (_, lines, _), (_, shares, _) = plots
    assert box.count().to_dict() == counts and len(counts) > 5
    assert words['title'] == worst['callback'] and scatter.ms.max() == hist.max() == worst['duration_ns'] / 1e6
    assert len(scatter) == len(hist) == counts[worst['callback']]
    latencies = kymo.query('SELECT topic_name, max(latency_ns) AS ns FROM messages WHERE latency_ns IS NOT NULL GROUP BY 1')
    assert {row['topic_name']: row['ns'] / 1e6 for row in latencies} == lines.max().to_dict()
    total = kymo.query('SELECT sum(duration_ns) AS ns FROM callback_instances')[0]['ns']
    assert shares.sum() == pytest.approx(total / 1e6)
