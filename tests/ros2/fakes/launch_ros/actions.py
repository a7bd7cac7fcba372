# SPDX-License-Identifier: Apache-2.0
"""A node is a program of the build directory of its package: those of examples/robot need no ROS 2."""
import os

from launch.actions import ExecuteProcess


class Node(ExecuteProcess):
    def __init__(self, *, executable, package=None, namespace=None, output=None, env=None, **kwargs):
        super().__init__(cmd=[os.path.join(os.environ['KYMO_BUILD'], package, executable), '--seconds', '1'], output=output, **kwargs)
