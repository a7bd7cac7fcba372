# SPDX-License-Identifier: Apache-2.0
"""What docs/ros2.md shows is run, as it stands there; but for limits of time and number, which a busy machine breaks."""
import os
import re
import shlex
import subprocess
import sys

from forked import Done
import kymo
import kymo.testing
import pytest

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
import launch.logging
from launch.launch_description_sources import AnyLaunchDescriptionSource

with open(os.path.join(os.environ['KYMO_SOURCE'], 'docs', 'ros2.md'), encoding='utf-8') as _file:
    _BLOCKS = re.findall(r'```(\w+)\n(.*?)```', _file.read(), re.S)


def _name(block):
    match = re.match(r'(?:#|<!--) (\S+\.(?:py|xml|yaml))', block)
    return match[1] if match else ''


FILES = {_name(text): text for _, text in _BLOCKS if _name(text)}
SNIPPETS = [text for language, text in _BLOCKS if language == 'python' and not _name(text)]
SHELL = [text for language, text in _BLOCKS if language == 'sh']


@pytest.fixture(autouse=True)
def robot_in_path(monkeypatch, tmp_path, kymo_runtime):
    build = os.environ['KYMO_BUILD']
    monkeypatch.setenv('PATH', f'{build}/robot:{build}/bin:{os.environ["PATH"]}')
    monkeypatch.setenv('ROS_TRACE_DIR', str(tmp_path / 'traces'))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize('name', [name for name in FILES if '.launch.' in name])
def test_launch_files(name, tmp_path):
    path = tmp_path / name
    path.write_text(FILES[name])
    before = os.environ.copy()
    if hasattr(launch.logging, 'reset'):
        launch.logging.reset()
    try:
        service = LaunchService()
        service.include_launch_description(
            LaunchDescription([IncludeLaunchDescription(AnyLaunchDescriptionSource(str(path)))]))
        assert service.run() == 0
    finally:
        os.environ.clear()
        os.environ.update(before)
    trace = [entry for entry in os.listdir('traces') if not entry.endswith('.log')]
    assert len(trace) == 1 and trace[0].startswith('walk-20')
    kymo.testing.Recording(os.path.join('traces', trace[0])).assert_callback('*/costmap*')


def test_pytest_files(tmp_path):
    names = [name for name in FILES if name.startswith('test_')]
    assert len(names) == 2
    for name in names:
        text = re.sub(r"'\d+ms'", "'600s'", FILES[name])
        (tmp_path / name).write_text(text.replace('at_least=10', 'at_least=1'))
    done = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'kymo.pytest_plugin', *names],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0 and '2 passed' in done.stdout, done.stdout


def test_snippets(trace):
    pytest.importorskip('pandas')
    os.symlink(trace.trace, 'walk')
    assert len(SNIPPETS) == 2
    for snippet in SNIPPETS:
        # From the first event on: this trace is short.
        exec(snippet.replace('--begin=+500ms', '--begin=+0s'), {'__name__': 'snippet'})


def test_shell():
    assert len(SHELL) == 1
    for line in SHELL[0].splitlines():
        words = shlex.split(line)
        assert words[0] == 'ros2'
        done = Done(*words[1:])
        assert done.returncode == 0, (line, done.stderr)
    kymo.testing.Recording('traces/walk').assert_events('callback_start', 'rcl_publish')


def test_every_option_of_start_has_a_name_here():
    """The table says 'all options of kymo start': those it names are some of them."""
    from kymo_ros2.action import kymo_options
    with open(os.path.join(os.environ['KYMO_SOURCE'], 'docs', 'ros2.md'), encoding='utf-8') as file:
        row = next(line for line in file if line.startswith('| all options of'))
    assert set(re.findall(r'`([a-z_]+)`', row)) <= set(kymo_options())
