# SPDX-License-Identifier: Apache-2.0
"""The launch action: in Python, XML and YAML; on the real launch where there is one."""
import os
import shlex
import shutil
import sys

import kymo
import kymo.testing
import pytest

import launch  # noqa: I100
from launch import LaunchDescription, LaunchService
from launch.actions import ExecuteProcess, IncludeLaunchDescription, Shutdown
import launch.logging
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import EnvironmentVariable

import kymo_ros2.frontend  # noqa: F401
from kymo_ros2.action import kymo_options, Trace


def run(*actions):
    service = LaunchService()
    service.include_launch_description(LaunchDescription(list(actions)))
    return service.run()


def only(directory):
    """The one trace in a directory; a log beside it is none."""
    names = [name for name in os.listdir(directory) if not name.endswith('.log')]
    assert len(names) == 1, names
    return kymo.testing.Recording(os.path.join(directory, names[0]))


@pytest.fixture
def traces(tmp_path, kymo_runtime):
    """Where traces go; with a runtime directory and an environment of their own."""
    path = tmp_path / 'traces'
    path.mkdir()
    before = os.environ.copy()
    if hasattr(launch.logging, 'reset'):
        launch.logging.reset()      # the real one keeps the files of the test before
    yield os.fspath(path)
    # launch sets variables in its own process, too.
    os.environ.clear()
    os.environ.update(before)


def test_python(traces, program, capfd):
    trace = Trace(session_name='walk', base_path=traces, topic=['!/rosout'], strict=True, subbuffer_size_ust=4096,
                  dual_session=True)
    assert run(trace, ExecuteProcess(cmd=program)) == 0
    assert trace.trace_directory == os.path.join(traces, 'walk')
    recording = only(traces)
    recording.assert_count('callback_start', 10, 10)
    recording.assert_latency('/chatter', 10)
    recording.assert_nothing_lost()
    assert 'libkymo-ros2.so' in trace.env['LD_PRELOAD']
    said = capfd.readouterr()
    said = said.out + said.err
    assert f'Writing tracing session to: {traces}/walk' in said
    assert 'a ring of 16384 bytes for each thread' in said and 'dual_session is ignored' in said
    assert trace.env['KYMO_RING_SIZE'] == '16384'
    with pytest.raises(kymo.Error):
        kymo.call('stop')


def test_what_happens_at_shutdown_is_recorded(traces, program, tmp_path):
    ready = tmp_path / 'ready'
    waiter = ['timeout', '60', 'sh', '-c', f'while [ ! -e {shlex.quote(str(ready))} ]; do sleep 0.02; done']
    assert run(Trace(session_name='end', base_path=traces),
               ExecuteProcess(cmd=[*program, '--until-interrupt', str(ready)]),
               ExecuteProcess(cmd=waiter, on_exit=[Shutdown()])) == 0
    only(traces).assert_count('callback_start', 11, 11)


def test_names_are_substitutions(traces, program, monkeypatch):
    monkeypatch.setenv('WHERE', traces)
    trace = Trace(session_name=['walk-', EnvironmentVariable('KYMO_WHO')], base_path=EnvironmentVariable('WHERE'),
                  append_timestamp=True, events_ust=[[EnvironmentVariable('KYMO_WHO'), ':callback_*']])
    monkeypatch.setenv('KYMO_WHO', 'ros2')
    assert run(trace, ExecuteProcess(cmd=program)) == 0
    recording = only(traces)
    assert os.path.basename(recording.trace).startswith('walk-ros2-20')
    recording.assert_count('callback_end', 10, 10)
    recording.assert_count('rcl_publish', 0, 0)
    recording.assert_count('rcl_node_init', 1, 1)


def test_existing_trace(traces, program, capfd):
    assert run(Trace(session_name='walk', base_path=traces), ExecuteProcess(cmd=program)) == 0
    assert run(Trace(session_name='walk', base_path=traces), ExecuteProcess(cmd=program)) == 1
    said = capfd.readouterr()
    assert 'trace directory already exists' in said.out + said.err
    assert run(Trace(session_name='walk', base_path=traces, append_trace=True), ExecuteProcess(cmd=program)) == 0
    only(traces).assert_count('callback_start', 20, 20)


def test_loss_fails_the_launch_on_request(traces, program, monkeypatch, capfd):
    monkeypatch.setenv('KYMO_RING_MEMORY', '16K')
    program = [*program, '--second-thread']
    assert run(Trace(session_name='may', base_path=traces, ring_size='16K'), ExecuteProcess(cmd=program)) == 0
    assert run(Trace(session_name='must', base_path=traces, ring_size='16K', strict=True),
               ExecuteProcess(cmd=program)) == 1
    said = capfd.readouterr()
    assert f'events were lost: {traces}/must' in said.out + said.err


def test_setup_that_fails(traces, program, capfd):
    """What kymo does not take is launch's failure, with kymo's words; nothing is left behind."""
    assert run(Trace(session_name='x', base_path=traces, flight='30s', trigger=['no such thing >']),
               ExecuteProcess(cmd=program)) == 1
    said = capfd.readouterr()
    assert 'tracing setup failed: kymo start: ' in said.out + said.err
    assert not kymo.ask('status').get('recorder_pid')
    with pytest.raises(TypeError):
        Trace(session_name='x', no_such_option=1)


def test_kernel_events(traces, program, monkeypatch, capfd):
    """What was requested and is not available fails the launch, unless it is wanted if possible only."""
    monkeypatch.setenv('KYMO_KERNEL_SOURCE', 'none')
    assert run(Trace(session_name='must', base_path=traces, events_kernel=['sched_switch']),
               ExecuteProcess(cmd=program)) == 1
    said = capfd.readouterr()
    assert 'tracing setup failed: kymo start: ' in said.out + said.err
    assert '--kernel=if-possible' in said.out + said.err
    assert not os.path.exists(f'{traces}/must')
    assert run(Trace(session_name='may', base_path=traces, syscalls=['read'], kernel='if-possible'),
               ExecuteProcess(cmd=program)) == 0
    only(traces).assert_count('callback_start', 10, 10)


def test_nothing_traced(traces, capfd):
    assert run(Trace(session_name='x', base_path=traces), ExecuteProcess(cmd=['true'])) == 0
    said = capfd.readouterr()
    assert 'nothing was traced' in said.out + said.err


def test_flight_recorder(traces, program):
    trace = Trace(session_name='spike', base_path=traces, snapshot_mode=True, snapshots=1,
                  trigger=['callback(/test/talker) > 1ns'], post='0s')
    assert run(trace, ExecuteProcess(cmd=program)) == 0
    assert os.listdir(os.path.join(traces, 'spike')) == ['1']


def test_own_runtime_directory(traces, program, tmp_path):
    trace = Trace(session_name='own', base_path=traces, runtime_directory=str(tmp_path / 'run'))
    assert run(trace, ExecuteProcess(cmd=program)) == 0
    assert trace.env['KYMO_DIR'] == str(tmp_path / 'run')
    only(traces).assert_events('callback_end')


def test_hook_for_rclpy(traces, program, monkeypatch, tmp_path, capfd):
    trace = Trace(session_name='py', base_path=traces, rclpy=True)
    assert run(trace, ExecuteProcess(cmd=program)) == 0
    assert trace.env['KYMO_RCLPY'] == '1' and 'python' in trace.env['PYTHONPATH']
    trace = Trace(session_name='none', base_path=traces, rclpy=False)
    assert run(trace, ExecuteProcess(cmd=program)) == 0
    assert trace.env['KYMO_RCLPY'] == '0' and 'PYTHONPATH' not in trace.env
    # A kymo without its files for Python: launch fails, and starts nothing.
    library = os.path.join(os.path.dirname(kymo.command.find()), '..', 'lib')
    for name in ('bin/kymo', 'lib/libkymo-ros2.so'):
        os.makedirs(tmp_path / os.path.dirname(name), exist_ok=True)
        shutil.copy(os.path.join(library, '..', name), tmp_path / name)
    monkeypatch.setenv('KYMO', str(tmp_path / 'bin' / 'kymo'))
    capfd.readouterr()
    assert run(Trace(session_name='py2', base_path=traces, rclpy=True), ExecuteProcess(cmd=['touch', str(tmp_path / 'ran')])) == 1
    said = capfd.readouterr()
    assert 'cannot record the callbacks of rclpy' in said.out + said.err
    assert not (tmp_path / 'ran').exists() and not os.path.exists(os.path.join(traces, 'py2'))


def test_attributes_are_the_options_of_start():
    names = kymo_options()
    assert {'flight', 'trigger', 'post', 'node', 'topic', 'process', 'event', 'max_size', 'relay', 'perfetto',
            'ring_size', 'kernel', 'paused'} <= set(names)
    assert not {'output', 'format', 'quiet', 'hosts'} & set(names)


XML = """
<launch>
  <kymo session-name="walk" base-path="{traces}" append-timestamp="true" strict="true" ring-size="256K"
        events-ust="ros2:callback_* ros2:rcl_publish" context-fields="vpid procname" topic="!/rosout;!/imu" topic-sep=";"
        category="$(env KYMO_R)os2" kernel="if-possible"/>
  <executable cmd="{command}"/>
</launch>
"""

YAML = """
launch:
- kymo:
    session-name: walk
    base-path: {traces}
    append-timestamp: true
    strict: true
    events-ust: ros2:callback_* ros2:rcl_publish
    topic: ['!/rosout', '!/imu']
    subbuffer-size-ust: 4096
    max-size: 20G
- executable: {{cmd: {command}}}
"""


@pytest.mark.parametrize('text, suffix', [(XML, 'xml'), (YAML, 'yaml')], ids=['xml', 'yaml'])
def test_front_ends(traces, program, tmp_path, monkeypatch, text, suffix):
    monkeypatch.setenv('KYMO_R', 'r')
    file = tmp_path / f'robot.launch.{suffix}'
    file.write_text(text.format(traces=traces, command=' '.join(program)))
    assert run(IncludeLaunchDescription(AnyLaunchDescriptionSource(str(file)))) == 0
    recording = only(traces)
    assert os.path.basename(recording.trace).startswith('walk-20')
    if suffix == 'yaml':
        recording.assert_count('callback_start', 10)        # max-size: in chunks, of which each tells all facts
        return
    recording.assert_count('callback_start', 10, 10)
    recording.assert_count('rcl_publish', 10, 10)
    recording.assert_count('rmw_take', 0, 0)


def test_unknown_attribute(tmp_path, traces, capfd):
    file = tmp_path / 'robot.launch.xml'
    file.write_text('<launch><kymo session-name="x" no-such-thing="1"/></launch>')
    assert run(IncludeLaunchDescription(AnyLaunchDescriptionSource(str(file)))) == 1
    said = capfd.readouterr()
    assert 'no-such-thing' in said.out + said.err


def test_command_stays_importable_without_launch():
    """`ros2 kymo` must not load launch."""
    import subprocess
    subprocess.run([sys.executable, '-c', 'import sys, kymo_ros2.command.kymo; assert "launch" not in sys.modules'],
                   check=True)
