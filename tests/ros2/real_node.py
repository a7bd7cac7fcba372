# SPDX-License-Identifier: Apache-2.0
"""A node on the real rclpy: gets its own messages."""
import rclpy
from rclpy.node import Node
from rcl_interfaces.msg import Log


class Talker(Node):
    def __init__(self):
        super().__init__('talker')
        self.publisher = self.create_publisher(Log, 'chatter', 10)
        self.create_subscription(Log, 'chatter', self.hear, 10)
        self.timer = self.create_timer(0.01, self.tick)
        self.heard = 0

    def tick(self):
        self.publisher.publish(Log(msg='hello'))

    def hear(self, message):
        self.heard += 1
        if self.heard == 5:
            raise SystemExit


rclpy.init()
try:
    rclpy.spin(Talker())
except SystemExit:
    print('hooked')
