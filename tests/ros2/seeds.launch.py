# SPDX-License-Identifier: Apache-2.0
"""What `tests/system/house/seeds.py --ros DIR` records: a talker and a listener of ROS 2's demos."""
from launch import LaunchDescription
from launch_ros.actions import Node


def generate_launch_description():
    return LaunchDescription([Node(package='demo_nodes_cpp', executable=name) for name in ('talker', 'listener')])
