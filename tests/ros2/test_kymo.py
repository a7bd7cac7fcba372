# SPDX-License-Identifier: Apache-2.0
"""The module kymo: the command, events, frames, recordings, assertions."""
import os
import subprocess
import sys

import kymo
from kymo import reader, session
import kymo.testing
import pytest

FIXTURE = os.path.join(os.environ['KYMO_SOURCE'], 'tests', 'fixtures', 'lifecycle')


def test_find(monkeypatch, tmp_path):
    assert kymo.find() == os.path.join(os.environ['KYMO_BUILD'], 'bin', 'kymo')
    other = tmp_path / 'kymo'
    other.symlink_to(kymo.find())
    monkeypatch.setenv('KYMO', str(other))
    assert kymo.find() == str(other)
    monkeypatch.delenv('KYMO')
    monkeypatch.delenv('KYMO_BUILD')
    monkeypatch.setenv('PATH', str(tmp_path))
    assert kymo.find() == str(other)
    monkeypatch.setenv('PATH', '/proc/nowhere')
    with pytest.raises(kymo.Error, match='not in PATH'):
        kymo.find()


def test_table_is_the_commands():
    said = subprocess.run([kymo.find(), 'help'], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = [line.split()[0] for line in said.split('Verbs:\n')[1].split('\n\n')[0].splitlines() if line[2] != ' ']
    assert list(kymo.verbs()) == names
    assert {row['option'] for row in kymo.command.options('record')} >= {'output', 'flight', 'trigger', 'strict'}


def test_errors_carry_status_and_words():
    with pytest.raises(kymo.Error) as caught:
        kymo.get_trace_events('/proc/no/such/trace')
    assert caught.value.status == kymo.command.INPUT and '/proc/no/such/trace' in str(caught.value)
    with pytest.raises(kymo.Error) as caught:
        kymo.call('info', '--no-such-option')
    assert caught.value.status == kymo.command.USAGE and caught.value.command[1:] == ['info', '--no-such-option']
    assert isinstance(caught.value, RuntimeError)


def test_events_are_those_of_babeltrace():
    events = kymo.get_trace_events(FIXTURE)
    bt2 = subprocess.run(['babeltrace2', FIXTURE], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    assert len(events) == len(bt2) > 100
    for event, line in zip(events, bt2):
        assert f' {event["_name"]}: ' in line
        assert f'vpid = {event["vpid"]}' in line and f'"{event["procname"]}"' in line
    first = events[0]
    assert set(first) == {'_name', '_timestamp', 'cpu_id', 'vpid', 'vtid', 'procname', 'context_handle', 'version'}
    assert reader.get_event_name(first) == 'ros2:rcl_init' and reader.get_field(first, 'version') == '8.2.2'
    with pytest.raises(AttributeError):
        reader.get_field(first, 'no_such_field')
    assert reader.get_field(first, 'no_such_field', 7, raise_if_not_found=False) == 7


def test_part_of_a_trace_and_an_early_end():
    assert {event['_name'] for event in kymo.events(FIXTURE, '--event=ros2:callback_*')} == \
        {'ros2:callback_start', 'ros2:callback_end'}
    for event in kymo.events(FIXTURE):
        assert event['_name'] == 'ros2:rcl_init'
        break


def test_handler_gets_every_event():
    class All(kymo.Handler):
        def __init__(self):
            self.events, self.ends, self.finished = [], 0, False

        @kymo.on('*')
        def each(self, event):
            self.events.append(event)

        def on_callback_end(self, event):
            assert self.events[-1] is event or self.events[-1].ns <= event.ns
            self.ends += event._name == 'ros2:callback_end'

        def finish(self):
            self.finished = True

    handler = All().process(FIXTURE)
    wanted = kymo.get_trace_events(FIXTURE)
    assert len(handler.events) == len(wanted) and handler.finished
    assert handler.ends == sum(event['_name'] == 'ros2:callback_end' for event in wanted) > 3
    for got, event in zip(handler.events, wanted):
        assert (got._name, got.ns, got.vpid, got.vtid, got.cpu_id, got.procname) == tuple(
            event[key] for key in ('_name', '_timestamp', 'vpid', 'vtid', 'cpu_id', 'procname'))
        for key in event.keys() - {'_name', '_timestamp', 'vpid', 'vtid', 'cpu_id', 'procname'}:
            assert getattr(got, key) == (bytes(event[key]) if key == 'gid' else event[key]), (key, got)


def test_handlers_choose_in_the_command(monkeypatch):
    class Starts(kymo.Handler):
        count = 0

        def on_callback_start(self, event):
            self.count += 1
            self.last = event

    one, two = Starts(), Starts()
    kymo.process(FIXTURE, one, two, end='+1000s')
    starts = list(kymo.events(FIXTURE, '--event=ros2:callback_start'))
    assert one.count == two.count == len(starts) > 3 and one.last.callback == starts[-1]['callback']
    assert Starts().process(FIXTURE, begin='+900s').count == 0
    with pytest.raises(TypeError, match='on_NAME'):
        kymo.Handler().process(FIXTURE)
    with pytest.raises(kymo.Error) as caught:
        Starts().process('/proc/no/such/trace')
    assert caught.value.status == kymo.command.INPUT

    class Broken(kymo.Handler):
        def on_callback_start(self, event):
            raise KeyError('mine')

    with pytest.raises(KeyError, match='mine'):
        Broken().process(FIXTURE)
    with pytest.raises(kymo.Error, match='--format json'):
        kymo.call('dump', '--format=columns', '--node=/a', FIXTURE)


def test_is_trace_directory(tmp_path):
    assert kymo.is_trace_directory(FIXTURE)
    assert not kymo.is_trace_directory(tmp_path)
    assert not kymo.is_trace_directory(__file__)


def test_pandas(trace):
    pandas = pytest.importorskip('pandas')
    frames = kymo.frames(trace.trace)
    rows = kymo.query('SELECT id, callback, start_ns, duration_ns, latency_ns FROM callback_instances', trace.trace)
    runs = frames['callback_instances']
    assert isinstance(runs, pandas.DataFrame) and len(runs) == len(rows) == 10
    # Exactly: a time in ns does not fit into a double.
    assert runs.start_ns.tolist() == [row['start_ns'] for row in rows]
    assert str(runs.start_ns.dtype) == 'Int64' and max(row['start_ns'] for row in rows) > 2**53
    assert runs.callback.tolist() == ['/test/talker /chatter'] * 10
    # A column of which nothing is known is empty, and still one of integers.
    assert frames.messages.clock_error_ns.isna().any() or frames.messages.clock_error_ns.dtype == 'Int64'
    assert frames.query('SELECT max(latency_ns) AS worst FROM messages').worst[0] == \
        max(row['latency_ns'] for row in rows)
    assert 'messages' in frames and 'no_such_table' not in frames
    with pytest.raises(KeyError):
        frames['no_such_table']


def test_polars_gets_columns_with_types(trace, monkeypatch):
    """polars is in no Debian 12: a stand-in sees what it would be given."""
    import types
    fake = types.SimpleNamespace(Utf8='utf8', Float64='f64', Int64='i64', DataFrame=list, Datetime=lambda unit: 'time ' + unit,
                                 Series=lambda name, values, dtype: (name, values, dtype))
    monkeypatch.setitem(sys.modules, 'polars', fake)
    columns = {name: (values, dtype) for name, values, dtype in kymo.frames(trace.trace, library='polars').nodes}
    assert columns['full_name'] == (['/test/talker'], 'utf8') and columns['created_ns'][1] == 'i64'
    assert columns['created'] == (columns['created_ns'][0], 'time ns')
    with pytest.raises(ValueError, match='pandas, polars'):
        kymo.frames(trace.trace, library='excel')


@pytest.mark.parametrize('library', ['pandas', 'polars'])
def test_library_that_is_missing(trace, monkeypatch, tmp_path, library):
    """It is told before anything is exported, with a way that needs none; and that way works."""
    import sqlite3
    import tempfile
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f'module {library} is not installed.*python3-pandas.*--format sqlite'):
        kymo.frames(trace.trace, library=library)
    assert not os.listdir(tmp_path)
    database = str(tmp_path / 'trace.sqlite')
    kymo.call('export', '-q', '--format', 'sqlite', '-o', database, trace.trace)
    names = [name for (name,) in sqlite3.connect(database).execute('SELECT full_name FROM nodes')]
    assert names == [row['full_name'] for row in kymo.query('SELECT full_name FROM nodes', trace.trace)] != []


def test_temporary_database_goes(trace, monkeypatch, tmp_path):
    import tempfile
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    frames = kymo.frames(trace.trace)
    assert os.listdir(tmp_path)
    del frames
    assert not os.listdir(tmp_path)


# ---- recordings in the background ----

def test_session(kymo_runtime, tmp_path, program):
    recording = kymo.Session(os.fspath(tmp_path / 'trace'), ['--topic=!/rosout'])
    recording.start()
    assert recording.is_active()
    with pytest.raises(kymo.Error, match='recorded already'):
        kymo.Session(os.fspath(tmp_path / 'other')).start()
    recording.pause()
    recording.resume()
    subprocess.run([kymo.find(), 'run', '--', *program], check=True, stdout=subprocess.DEVNULL)
    assert recording.stop(strict=True)
    assert not recording.is_active()
    kymo.testing.Recording(recording.directory).assert_count('callback_start', 10, 10)
    with pytest.raises(kymo.Error, match='not active'):
        recording.pause()


def test_session_that_ends_by_itself(tmp_path, monkeypatch):
    """Its recorder has let go of the programs, and still writes."""
    recorder = tmp_path / 'kymo'
    recorder.write_text(f'#!/bin/sh\nsleep 0.5\nmkdir {tmp_path}/trace\n')
    recorder.chmod(0o755)
    monkeypatch.setenv('KYMO_DIR', os.fspath(tmp_path))
    recording = kymo.Session(os.fspath(tmp_path / 'trace'))
    with subprocess.Popen([recorder]) as process:
        recording.recorder = process.pid
        assert recording.stop()


def test_session_without_programs_and_of_somebody_else(kymo_runtime, tmp_path):
    recording = kymo.Session(os.fspath(tmp_path / 'trace'))
    recording.start()
    kymo.call('stop')
    assert recording.stop(strict=True) is False
    with pytest.raises(kymo.Error, match='not active'):
        recording.stop()


def test_trace_directory(monkeypatch, tmp_path):
    assert session.trace_directory({'ROS_TRACE_DIR': '/a', 'ROS_HOME': '/b'}) == '/a'
    assert session.trace_directory({'ROS_TRACE_DIR': '', 'ROS_HOME': '/b'}) == '/b/tracing'
    assert session.trace_directory({}) == os.path.expanduser('~/.ros/tracing')
    assert session.new_directory(tmp_path, 'walk') == os.path.join(tmp_path, 'walk')
    (tmp_path / 'walk').mkdir()
    (tmp_path / 'walk' / 'metadata').touch()
    with pytest.raises(kymo.Error, match='use the append option'):
        session.new_directory(tmp_path, 'walk')
    assert session.new_directory(tmp_path, 'walk', append=True).startswith(os.path.join(tmp_path, 'walk', 'append-'))


def test_wishes_of_ros2_tracing():
    wish = session.from_ros2_tracing
    assert wish() == ([], [])
    assert wish(['ros2:*', '*'])[0] == []
    assert wish([])[0] == ['--event=!*']
    assert wish(['ros2:callback_*', 'ros2:rcl_init'])[0] == ['--event=ros2:callback_*', '--event=ros2:rcl_init']
    options, notes = wish(['lttng_ust_libc:malloc'], ['sched_switch'], ['openat'], {'userspace': ['vpid', 'ip']})
    assert '--kernel-event=sched_switch' in options and '--syscalls' in options and len(notes) == 4
    options, notes = wish([], ['block_*', 'kmem_mm_page_alloc'], (), ['procname', 'vpid', 'vtid', 'perf:thread:cycles'])
    assert options == ['--event=!*', '--kernel-event=block_*', '--cycles'] and 'kmem_mm_page_alloc' in notes[0]
    with pytest.raises(kymo.Error, match='none of these kernel events: kmem_mm_page_alloc; it knows: sched_switch'):
        wish(None, ['kmem_mm_page_alloc'])
    with pytest.raises(kymo.Error) as caught:
        kymo.call('record', '--kernel-event=no_such_event')
    assert caught.value.status == kymo.command.USAGE
    assert set(str(caught.value).split('they are: ')[1].split('\n')[0].split(', ')) == set(session.KERNEL_EVENTS)
    assert session.option('max_size', '20G') == ['--max-size=20G']
    assert session.option('topic', ['/a', '!/b']) == ['--topic=/a', '--topic=!/b']
    assert session.option('paused', True) == ['--paused'] and session.option('paused', False) == []


# ---- for tests ----

def test_record_passes_status_and_output(kymo_record, program):
    recording = kymo_record([*program, '--status', '7'])
    assert recording.status == 7 and recording.output == 'done\n'
    with pytest.raises(kymo.Error) as caught:
        kymo_record(['true'])
    assert caught.value.status == kymo.command.EMPTY


@pytest.mark.parametrize('method, arguments, limits', [
    ('assert_events', ['rcl_init', 'ros2:callback_start'], {}),
    ('assert_count', ['callback_start', 10, 10], {'callback': 0x403}),
    ('assert_order', ['rcl_init', 'rcl_node_init', 'rclcpp_callback_register', 'rmw_take', 'callback_end'], {}),
    ('assert_fields', ['rcl_publisher_init', 'topic_name', 'queue_depth', 'node_handle'], {}),
    ('assert_callback', ['/test/talker /chatter', 10], {'max': '600s', 'mean': '600s', 'p99_9': 600 * 10**9}),
    ('assert_latency', ['/chatter', 10], {'p50': '600s'}),
    ('assert_nothing_lost', [], {}),
])
def test_assertions_hold(trace, method, arguments, limits):
    getattr(trace, method)(*arguments, **limits)


@pytest.mark.parametrize('method, arguments, limits, words', [
    ('assert_events', ['rcl_init', 'no_such_event'], {}, 'no event no_such_event'),
    ('assert_count', ['callback_start', 11], {}, '10 events callback_start'),
    ('assert_count', ['callback_start', 1, 9], {}, 'expected 1 to 9'),
    ('assert_count', ['callback_start', 1], {'callback': 7}, '0 events'),
    ('assert_order', ['rcl_node_init', 'rcl_init'], {}, 'rcl_init was .* ns before rcl_node_init'),
    ('assert_fields', ['rcl_publisher_init', 'no_such_field'], {}, 'no_such_field'),
    ('assert_callback', ['/test/talker /chatter'], {'max': '1ns'}, "max of callback .* expected at most 1ns"),
    ('assert_callback', ['*'], {'at_least': 11}, '10 runs'),
    ('assert_latency', ['/chatter'], {'mean': '1ns'}, 'mean of latency of /chatter'),
    ('assert_latency', ['/nobody'], {}, '0 messages of /nobody'),
    ('assert_latency', ['/chatter -> /nobody'], {}, '0 instances'),
])
def test_assertions_fail(trace, method, arguments, limits, words):
    with pytest.raises(AssertionError, match=words):
        getattr(trace, method)(*arguments, **limits)


def test_limits_that_are_none(trace):
    for limits in ({'max': '5 parsecs'}, {'median': '5ms'}):
        with pytest.raises(ValueError):
            trace.assert_callback('*', **limits)


def test_loss_is_an_assertion(kymo_record, program, monkeypatch):
    monkeypatch.setenv('KYMO_RING_SIZE', '16K')
    monkeypatch.setenv('KYMO_RING_MEMORY', '16K')
    recording = kymo_record([*program, '--second-thread'])
    with pytest.raises(AssertionError, match='events were lost'):
        recording.assert_nothing_lost()


def test_a_robot(kymo_record):
    """A command that is no test program: chains and their latency."""
    recording = kymo_record([os.path.join(os.environ['KYMO_BUILD'], 'robot', 'robot'), '--seconds', '1'])
    recording.assert_callback('*/costmap*', max='600s')
    recording.assert_latency('/scan -> /cmd_vel', at_least=1, p99='600s')
    with pytest.raises(AssertionError, match='max of .*/scan'):
        recording.assert_latency('/scan -> /cmd_vel', max='1ns')
    with pytest.raises(ValueError):
        recording.assert_latency('/scan -> /cmd_vel', p95='1s')
