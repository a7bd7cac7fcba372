# SPDX-License-Identifier: Apache-2.0
"""`ros2 kymo ...`: every verb, completion, and the verbs and options of `ros2 trace`."""
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time

from forked import Done, Ros2
import kymo
import kymo.testing
import pytest

def ros2(*arguments, stdin=''):
    return Done(*arguments, stdin=stdin)


def complete(line):
    """What a shell offers behind this line: argcomplete's protocol."""
    pytest.importorskip('argcomplete')
    child = Ros2(env={'_ARGCOMPLETE': '1', 'COMP_LINE': line, 'COMP_POINT': str(len(line)), 'COMP_TYPE': '9',
                      '_ARGCOMPLETE_IFS': '\n', '_ARGCOMPLETE_SUPPRESS_SPACE': '1'}).close()
    offered = child.offered.read()
    child.wait()
    return [word.strip() for word in offered.split('\n') if word]


@pytest.fixture
def traces(tmp_path, kymo_runtime, monkeypatch):
    monkeypatch.setenv('ROS_TRACE_DIR', os.fspath(tmp_path))
    return os.fspath(tmp_path)


def until_recording(process):
    deadline = time.monotonic() + 60
    while not kymo.ask('status').get('recorder_pid'):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


def traced(program):
    subprocess.run([kymo.find(), 'run', '--', *program], check=True, stdout=subprocess.DEVNULL)


def count(trace):
    return len(kymo.testing.Recording(trace).named('callback_start'))


# ---- kymo's own verbs ----

def test_overview_has_every_verb():
    said = ros2('kymo')
    assert said.returncode == 0
    for name, summary in [*kymo.verbs().items(), ('trace', 'the verbs and options of "ros2 trace"')]:
        assert f'{name} ' in said.stdout and summary in said.stdout
    assert ros2('kymo', 'no-such-verb').returncode == 2


def test_verbs_are_kymos(trace):
    for arguments in (['info', trace.trace, '--format', 'json'], ['record', '--help'], ['dump', '-n3', trace.trace],
                      ['query', trace.trace, 'SELECT count(*) FROM messages'], ['info', '/proc/no/such/trace'],
                      ['status', '--no-such-option'], ['run', '--', 'sh', '-c', 'exit 7', '--', '--strict', '-h']):
        theirs = subprocess.run([kymo.find(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                check=False)
        ours = ros2('kymo', *arguments)
        assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout), arguments
        assert theirs.stderr in ours.stderr
    assert ours.returncode == 7


def test_trace_analysis(trace, traces):
    said = ros2('kymo', 'trace-analysis', 'process', trace.trace)
    assert said.returncode == 0 and 'none lost' in said.stdout and 'Callbacks ' in said.stdout
    assert re.search(r'^processed [1-9]\d* events in [\d.]+ s$', said.stdout, re.M), said.stdout
    hidden = ros2('kymo', 'trace-analysis', 'process', '-s', trace.trace)
    assert hidden.returncode == 0 and 'Callbacks' not in hidden.stdout and 'processed' in hidden.stdout
    copy = shutil.copytree(trace.trace, f'{traces}/copy')
    for words, name in (('convert', 'converted'), ('convert -o tables', 'tables'), ('process --convert-only', 'converted')):
        assert ros2('kymo', 'trace-analysis', *words.split(), copy).returncode == 0
        with sqlite3.connect(f'{copy}/{name}.sqlite') as database:
            assert database.execute('SELECT count(*) FROM callback_instances').fetchone()[0] > 0
    gone = ros2('kymo', 'trace-analysis', 'process', '/proc/no/such/trace')
    assert gone.returncode == 1 and 'does not exist' in gone.stderr


def test_record(traces, program):
    said = ros2('kymo', 'record', '-q', '--topic', '/chatter', '-o', f'{traces}/x', '--', *program)
    assert said.returncode == 0 and said.stdout == 'done\n'
    assert count(f'{traces}/x') == 10


def test_interrupt_is_left_to_kymo(traces):
    """Ctrl-C reaches both processes; kymo ends the recording, and `ros2` passes its status on."""
    process = Ros2('kymo', 'record', '-o', f'{traces}/x', new_session=True)
    until_recording(process)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == kymo.command.EMPTY
    said = process.stderr.read()
    assert 'nothing was traced' in said and 'Traceback' not in said


def test_completion(traces):
    assert set(complete('ros2 kymo re')) == {'record', 'recover', 'relay', 'report', 'resume'}
    assert set(complete('ros2 kymo record --fl')) == {'--flight', '--flight-memory'}
    assert set(complete('ros2 kymo info -f ')) == {'table', 'json', 'csv'}
    assert complete('ros2 kymo trace st') == ['start', 'stop']
    assert 'ros2:callback_start' in complete('ros2 kymo trace start x -u ros2:callback')
    assert 'sched_switch' in complete('ros2 kymo trace -k sched')
    assert complete('ros2 kymo trace start x --app') == ['--append-trace']


# ---- as ros2 trace ----

def test_start_pause_resume_stop(traces, program):
    said = ros2('kymo', 'trace', 'start', 'walk', '-l', '-u', 'ros2:callback_*')
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines() == [
        'userspace tracing enabled (1 events)', '\tros2:callback_*', 'kernel tracing disabled',
        'syscalls tracing disabled', 'context (3 fields)', '\tprocname', '\tvpid', '\tvtid',
        f'writing tracing session to: {traces}/walk']
    again = ros2('kymo', 'trace', 'start', 'run')
    assert again.returncode == 1 and again.stderr.startswith('error: kymo start: ') and 'recorded already' in again.stderr
    assert ros2('kymo', 'trace', 'pause', 'walk').returncode == 0
    traced(program)
    assert ros2('kymo', 'trace', 'resume', 'walk').returncode == 0
    traced(program)
    other = ros2('kymo', 'trace', 'stop', 'run')
    assert other.returncode == 1 and other.stderr == 'error: there is no session run; active is walk\n'
    assert ros2('kymo', 'trace', 'stop', 'walk').returncode == 0
    assert count(f'{traces}/walk') == 10
    gone = ros2('kymo', 'trace', 'stop', 'walk')
    assert gone.returncode == 1 and gone.stderr == 'error: there is no session walk\n'


def test_append(traces, program):
    for arguments in ([], ['-a']):
        assert ros2('kymo', 'trace', 'start', 'walk', *arguments).returncode == 0
        traced(program)
        assert ros2('kymo', 'trace', 'stop', 'walk').returncode == 0
    assert count(f'{traces}/walk') == 20
    said = ros2('kymo', 'trace', 'start', 'walk')
    assert said.returncode == 1
    assert said.stderr == 'error: trace directory already exists, use the append option to append to it: ' \
        f'{traces}/walk\n'


def test_interactive(traces, program):
    process = Ros2('kymo', 'trace', '-s', 'walk', '-p', f'{traces}/deeper', '--dual-session')
    process.stdin.write('\n')
    process.stdin.flush()
    until_recording(process)
    traced(program)
    process.stdin.write('\n')
    process.close()
    said = process.stdout.read()
    assert process.wait() == 0
    assert said.startswith('userspace tracing enabled (all events)\n')
    for text in ('note: one session is enough', f'writing tracing session to: {traces}/deeper/walk',
                 'press enter to start...', 'press enter to stop...', 'stopping & destroying tracing session\n'):
        assert text in said
    assert count(f'{traces}/deeper/walk') == 10


def test_interactive_ends_with_a_signal(traces, program):
    process = Ros2('kymo', 'trace', '-s', 'walk')
    process.stdin.write('\n')
    process.stdin.flush()
    until_recording(process)
    traced(program)
    said = ''
    while 'press enter to stop...' not in said:
        letter = process.stdout.read(1)
        assert letter, said
        said += letter
    os.kill(process.pid, signal.SIGINT)
    assert process.wait() == 0
    assert count(f'{traces}/walk') == 10


def test_no_events(traces):
    said = ros2('kymo', 'trace', '-u')
    assert said.returncode == 1 and said.stderr == 'error: no events enabled\n'


def test_snapshot_mode(traces, program):
    assert ros2('kymo', 'trace', 'start', 'spike', '--snapshot-mode').returncode == 0
    traced(program)
    said = ros2('kymo', 'trace', 'record_snapshot', 'spike')
    assert said.stdout == f'{traces}/spike/1\n'
    assert ros2('kymo', 'trace', 'stop', 'spike').returncode == 0
    assert count(f'{traces}/spike/1') == 10


def test_default_name(traces, program):
    assert ros2('kymo', 'trace', stdin='\n\n').returncode == 0
    names = ros2('kymo', 'trace', '-h').stdout
    assert 'session-YYYYMMDDHHMMSS' in names
