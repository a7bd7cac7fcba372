# SPDX-License-Identifier: Apache-2.0
"""A node in Python on the fake rclpy whose callback awaits: /in -> /node -> /out, two messages at a time."""
import ctypes
import os
import time

# That of Jazzy: which one a process has says what its tracepoints are called with.
ctypes.CDLL(os.path.join(os.environ['KYMO_BUILD'], 'stub', 'jazzy', 'lib', 'libtracetools.so'))

import rclpy.executors  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.rcl import Handle, trace  # noqa: E402
from rclpy.task import Future  # noqa: E402

ROUNDS = 4
POLLS = 300     # more awaits than kymo follows


class Publisher:
    def __init__(self, node, topic):
        self.handle, self.rmw = Handle().pointer, Handle().pointer
        trace('rcl_publisher_init', self.handle, node.handle.pointer, self.rmw, topic, ctypes.c_size_t(10))

    def publish(self):
        """Return: the source timestamp."""
        stamp = time.time_ns()
        trace('rclcpp_publish', 0, 0x500)
        trace('rcl_publish', self.handle, 0x500)
        trace('rmw_publish', self.rmw, 0x500, ctypes.c_int64(stamp))
        return stamp


async def sleep(future):
    await future


class Worker(Node):
    def __init__(self):
        super().__init__('worker')
        self.client = self.create_client('/add')
        self.subscription = self.create_subscription('/in', self.work)
        self.early, self.out = Publisher(self, b'/early'), Publisher(self, b'/out')
        self.sent = []
        self.wakes = []
        self.calls = []

    async def work(self, number):
        self.early.publish()
        self.calls.append(self.client.call_async(number))
        result = await self.calls[-1]
        self.wakes.append(Future())
        await sleep(self.wakes[-1])
        self.sent.append(self.out.publish())
        return result


def receive(subscription, stamp):
    trace('rmw_take', subscription.handle.pointer + 0x20, 0x600, ctypes.c_int64(stamp), ctypes.c_bool(True))


def take(subscription, stamp):
    """As an executor: rmw_take, and the first step of the callback."""
    receive(subscription, stamp)
    coroutine = rclpy.executors.await_or_execute(subscription.callback, 1)
    coroutine.send(None)
    return coroutine


def finish(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError('it did not end')


def main():
    driver, worker, reader = Node('driver'), Worker(), Node('reader')
    source = Publisher(driver, b'/in')
    sink = reader.create_subscription('/out', lambda message: None)
    for _ in range(ROUNDS):
        worker.calls, worker.wakes, worker.sent = [], [], []
        stamps = [source.publish(), source.publish()]
        one, two = (take(worker.subscription, stamp) for stamp in stamps)
        time.sleep(0.002)
        # An executor goes on with all of them in each of its rounds.
        for coroutine in (one, two) * POLLS:
            coroutine.send(None)
        # The second message's response comes first, and the first one's is later done.
        for coroutine, call in (two, 1), (one, 0):
            worker.calls[call].set_result(call)
            coroutine.send(None)
        time.sleep(0.001)
        for coroutine, wake, result in (two, 0, 1), (one, 1, 0):
            worker.wakes[wake].set_result(None)
            assert finish(coroutine) == result
        for stamp in worker.sent:
            receive(sink, stamp)
            rclpy.executors.run(rclpy.executors.await_or_execute(sink.callback, 1))


main()
