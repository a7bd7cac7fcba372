# SPDX-License-Identifier: Apache-2.0
"""Nodes on the real rclpy, in one executor: the callback of /in awaits a response before it publishes to /out."""
import time

import rclpy
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import ListParameters
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

MESSAGES = 20
ANSWER_S = 0.003


class Driver(Node):
    def __init__(self):
        super().__init__('driver')
        self.out = self.create_publisher(Log, '/in', 10)
        self.sent = 0
        self.timer = self.create_timer(0.03, self.tick)

    def tick(self):
        if self.sent < MESSAGES:
            self.sent += 1
            self.out.publish(Log())


class Server(Node):
    def __init__(self):
        super().__init__('server')
        self.create_service(ListParameters, '/ask', self.answer)

    def answer(self, request, response):
        time.sleep(ANSWER_S)
        return response


class Worker(Node):
    def __init__(self):
        super().__init__('worker')
        group = ReentrantCallbackGroup()
        self.asked = self.create_client(ListParameters, '/ask', callback_group=group)
        self.out = self.create_publisher(Log, '/out', 10)
        self.create_subscription(Log, '/in', self.work, 10, callback_group=group)

    async def work(self, message):
        await self.asked.call_async(ListParameters.Request())
        self.out.publish(message)


class Reader(Node):
    def __init__(self):
        super().__init__('reader')
        self.heard = 0
        self.create_subscription(Log, '/out', self.hear, 10)

    def hear(self, message):
        self.heard += 1


rclpy.init()
executor = SingleThreadedExecutor()
reader, worker, server = Reader(), Worker(), Server()
worker.asked.wait_for_service()
for node in (reader, worker, server, Driver()):
    executor.add_node(node)
end = time.monotonic() + 30
while reader.heard < MESSAGES and time.monotonic() < end:
    executor.spin_once(timeout_sec=0.1)
print('heard', reader.heard)
