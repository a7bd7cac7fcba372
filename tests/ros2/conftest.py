# SPDX-License-Identifier: Apache-2.0
"""What the tests of ros2/ have in common."""
import os
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import upstream  # noqa: E402

_scratch = tempfile.TemporaryDirectory(prefix='kymo-ros2-')
REAL = upstream.prepare(_scratch.name)
os.environ['ROS_LOG_DIR'] = os.path.join(_scratch.name, 'log')
os.environ['ROS_DISTRO'] = 'jazzy'
for _name in ('KYMO', 'KYMO_RCLPY', 'ROS_HOME', 'ROS_TRACE_DIR', 'LD_PRELOAD', 'RMW_IMPLEMENTATION'):
    os.environ.pop(_name, None)

pytest_plugins = ['kymo.pytest_plugin']


def pytest_report_header(config):
    return 'ROS 2: ' + ', '.join(f'{name}: {"real" if real else "fake"}' for name, real in REAL.items())


@pytest.fixture
def real():
    """Which packages of ROS 2 are the real ones."""
    return REAL


@pytest.fixture
def program():
    """The traced program, as a command."""
    return [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'program.py')]


@pytest.fixture(scope='session')
def trace(tmp_path_factory):
    """A trace of the program, for all tests that only read."""
    import kymo.testing
    here = os.path.dirname(os.path.abspath(__file__))
    return kymo.testing.record([sys.executable, os.path.join(here, 'program.py')],
                               output=tmp_path_factory.mktemp('trace') / 'trace')
