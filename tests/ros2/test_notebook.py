# SPDX-License-Identifier: Apache-2.0
"""The notebook of examples/notebook: its cells run on a recording of the robot, with matplotlib, and every plot shows the data that it is
about. The same plots with bokeh, which Debian 12 does not have: a stand-in sees what it would be given."""
import json
import os
import sys
import types

import kymo
import kymo.testing
import pytest

pandas = pytest.importorskip('pandas')
matplotlib = pytest.importorskip('matplotlib')
matplotlib.use('Agg')


@pytest.fixture(scope='module')
def trace(tmp_path_factory):
    directory = tmp_path_factory.mktemp('robot')
    path = directory / 'session-20260101000000'
    kymo.testing.record([os.environ['KYMO_BUILD'] + '/robot/robot', '--seconds', '1'], output=path)
    return path


@pytest.fixture
def frames(trace):
    return kymo.frames(os.fspath(trace))


def points(axes):
    return [len(line.get_xdata()) for line in axes.lines]


def counted(trace):
    return {row['callback']: row['n'] for row in
            kymo.query('SELECT callback, count(*) AS n FROM callback_instances GROUP BY 1', os.fspath(trace))}


def worst_of(trace):
    return kymo.query('SELECT callback, duration_ns FROM callback_instances ORDER BY 2 DESC LIMIT 1', os.fspath(trace))[0]


def test_cells(trace, monkeypatch):
    from matplotlib import pyplot
    monkeypatch.setenv('ROS_TRACE_DIR', os.fspath(trace.parent))
    with open(os.environ['KYMO_SOURCE'] + '/examples/notebook/robot.ipynb', encoding='utf-8') as file:
        book = json.load(file)
    assert (book['nbformat'], book['metadata']['kernelspec']['language']) == (4, 'python')
    names = {}
    for cell in book['cells']:
        if cell['cell_type'] == 'code':
            assert cell['outputs'] == [] and cell['execution_count'] is None
            exec(''.join(cell['source']), names)
    drawn = [pyplot.figure(number).axes[0].get_title() for number in pyplot.get_fignums()]
    worst = worst_of(trace)['callback']
    assert drawn == ['How long callbacks ran', worst, worst, 'Latency of topics, the worst of each 100ms', 'Time in callbacks']
    pyplot.close('all')


def test_plots(trace, frames):
    counts, worst = counted(trace), worst_of(trace)
    durations = frames.plot.durations()
    assert [text.get_text() for text in durations.get_yticklabels()][-1] == worst['callback'] and points(durations) == [len(counts)] * 3
    assert max(durations.lines[2].get_xdata()) == worst['duration_ns'] / 1e6
    over_time = frames.plot.over_time()
    assert points(over_time) == [counts[worst['callback']]] and max(over_time.lines[0].get_ydata()) == worst['duration_ns'] / 1e6
    assert sum(bar.get_height() for bar in frames.plot.histogram().patches) == counts[worst['callback']]
    latencies = {row['topic_name']: row['ns'] / 1e6 for row in
                 kymo.query('SELECT topic_name, max(latency_ns) AS ns FROM messages WHERE latency_ns IS NOT NULL GROUP BY 1', os.fspath(trace))}
    lines = frames.plot.latencies().lines
    assert {line.get_label(): max(line.get_ydata()) for line in lines} == latencies
    total = kymo.query('SELECT sum(duration_ns) AS ns FROM callback_instances', os.fspath(trace))[0]['ns']
    assert sum(bar.get_width() for bar in frames.plot.shares().patches) == pytest.approx(total / 1e6)
    with pytest.raises(ValueError, match='there are: .*/lidar_driver'):
        frames.plot.over_time('/nobody')
    matplotlib.pyplot.close('all')


def test_times(trace, frames):
    """Dates and times beside the nanoseconds, exactly."""
    runs = frames['callback_instances'].sort_values('id')
    rows = kymo.query('SELECT start_ns FROM callback_instances ORDER BY id', os.fspath(trace))
    assert str(runs.start.dtype) == 'datetime64[ns]' and runs.start.astype('int64').tolist() == [row['start_ns'] for row in rows]
    assert list(runs.columns)[list(runs.columns).index('start_ns') + 1] == 'start'
    messages = frames['messages']
    assert messages['take'].isna().tolist() == messages.take_ns.isna().tolist() and str(messages['take'].dtype) == 'datetime64[ns]'


def test_shown(trace, frames):
    runs = sum(counted(trace).values())
    assert os.fspath(trace) in repr(frames) and f'{runs:,}' in repr(frames) and 'callback_instances' in repr(frames)
    page = frames._repr_html_()
    assert f'<td>callback_instances</td><td>{runs:,}</td>' in page and 'Each run of a callback' in page


def test_bokeh(trace, frames, monkeypatch):
    calls = []

    class Figure:
        def __init__(self, **options):
            calls.append(('figure', options))

        def __getattr__(self, name):
            return lambda **data: calls.append((name, data))

    plotting = types.ModuleType('bokeh.plotting')
    plotting.figure = Figure
    monkeypatch.setitem(sys.modules, 'bokeh', types.ModuleType('bokeh'))
    monkeypatch.setitem(sys.modules, 'bokeh.plotting', plotting)
    for name in ('durations', 'over_time', 'histogram', 'latencies', 'shares'):
        assert isinstance(getattr(frames.plot, name)(library='bokeh'), Figure)
    kinds = [name for name, _ in calls if name != 'figure']
    assert kinds[:5] == ['scatter', 'scatter', 'scatter', 'scatter', 'quad'] and kinds[-1] == 'hbar' and 'line' in kinds
    assert len(calls[4][1].get('x', calls[5][1].get('x', []))) in (0, counted(trace)[worst_of(trace)['callback']])


def test_without_a_library(frames, monkeypatch):
    for name in ('matplotlib', 'bokeh'):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match='matplotlib is not installed. On Debian: apt install python3-matplotlib; bokeh'):
        frames.plot.durations()
    with pytest.raises(ValueError, match='matplotlib, bokeh'):
        frames.plot.durations(library='gnuplot')
