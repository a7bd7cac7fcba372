# SPDX-License-Identifier: Apache-2.0
"""A node in Python on the fake rclpy: each kind of callback, run as an executor does."""
import asyncio
import functools
import inspect
import sys

import rclpy.executors
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

run = rclpy.executors.run
execute = rclpy.executors.await_or_execute


class Pause:
    """Something to await that is not there at once."""

    def __await__(self):
        yield


class Listener(Node):
    def __init__(self):
        super().__init__('listener')
        self.heard = []
        self.subscription = self.create_subscription('/chatter', self.hear, callback_group=ReentrantCallbackGroup())
        self.timer = self.create_timer(10**7, functools.partial(self.tick, 1))
        self.service = self.create_service('/add', self.add)
        self.client = self.create_client('/multiply')
        self.guard = self.create_guard_condition(self.guarded)
        self.failing = self.create_timer(10**8, self.fail)

    def hear(self, message):
        self.heard.append(message)

    def tick(self, step):
        self.heard.append(step)

    def guarded(self):
        self.heard.append('guarded')

    async def steps(self, step):
        await Pause()
        self.heard.append(step)

    async def add(self, request, response):
        await Pause()
        return request + response

    def fail(self):
        raise KeyError('no')


def main():
    node = Listener()
    run(execute(node.subscription.callback, 'hello'))
    run(execute(node.timer.callback))
    assert node.heard == ['hello', 1]
    # What an executor sees of a callback is as without the hook.
    assert list(inspect.signature(node.subscription.callback).parameters) == ['message']
    assert inspect.iscoroutinefunction(node.service.callback)
    assert run(execute(node.service.callback, 1, 2)) == (3, 1)
    future = node.client.call_async(3)
    future.add_done_callback(node.hear)
    assert len(node.client.pending) == 1
    future.set_result(9)
    assert node.heard == ['hello', 1, 9] and not node.client.pending
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)
    executor.wait_for_ready_callbacks()
    run(execute(executor._take_timer(node.timer)))
    executor.spin_once(10**9)
    run(execute(node.guard.callback))
    for task in (executor.create_task(node.hear, 'task'), executor.create_task(node.steps, 'function'),
                 executor.create_task(node.steps('coroutine'))):
        task()
    assert node.heard[3:] == [1, 'guarded', 'task', 'function', 'coroutine']
    try:
        run(execute(node.failing.callback))
        sys.exit('the exception is gone')
    except KeyError:
        pass
    # An exception that is thrown into what a callback awaits is the callback's.
    coroutine = execute(node.service.callback, 1, 2)
    coroutine.send(None)
    try:
        coroutine.throw(asyncio.CancelledError())
        sys.exit('it was not cancelled')
    except asyncio.CancelledError:
        pass
    print('hooked' if hasattr(node.subscription.callback, '__wrapped__') else 'plain')


main()
