# SPDX-License-Identifier: Apache-2.0
"""Three runs of a robot keep their budgets. For colcon test, or: ROBOT=build/robot/robot pytest test_budgets.py"""
import os

import kymo.testing

HERE = os.path.dirname(__file__)
COMMAND = os.environ.get('ROBOT', 'ros2 launch my_robot robot.launch.py')


def test_budgets(kymo_record):
    runs = [kymo_record(COMMAND, timeout=2) for _ in range(3)]
    kymo.testing.assert_budgets(os.path.join(HERE, 'budgets.yaml'), *runs)
