# SPDX-License-Identifier: Apache-2.0
"""The robot is not slower than the one in $BASE_INSTALL, the install folder of another build. For colcon test, or:
BASE_INSTALL=/opt/robot/1.4 pytest test_bench.py"""
import os
import subprocess

import pytest

COMMAND = os.environ.get('ROBOT', 'exec ros2 launch my_robot robot.launch.py')
BASE = os.environ.get('BASE_INSTALL')


@pytest.mark.skipif(not BASE, reason='BASE_INSTALL does not name another build')
def test_not_slower(tmp_path):
    done = subprocess.run(['kymo', 'bench', '--duration', os.environ.get('DURATION', '20s'), '-o', str(tmp_path / 'bench'),
                           '--base', f". '{BASE}/setup.sh' && {COMMAND}", '--new', COMMAND],
                          stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
