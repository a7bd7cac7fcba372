# SPDX-License-Identifier: Apache-2.0
"""How executors run callbacks."""
import ctypes
import inspect

from .rcl import Handle, trace
from .timer import Timer


class _rclpy:
    class WaitSet:
        def wait(self, timeout_ns):
            pass


class ExternalShutdownException(Exception):
    pass


async def await_or_execute(callback, *args):
    if inspect.iscoroutinefunction(callback):
        return await callback(*args)
    return callback(*args)


def run(coroutine):
    """Run to the end; what it awaits is there at once. Return: its result, and how often it gave up the thread."""
    pauses = 0
    while True:
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value, pauses
        pauses += 1


class Task:
    """What an executor runs for a task, by turns with others."""

    def __init__(self, callback, args):
        self.coroutine = callback if inspect.iscoroutine(callback) else await_or_execute(callback, *args)

    def __call__(self):
        return run(self.coroutine)


class Executor:
    def __init__(self):
        self._waits = _rclpy.WaitSet()

    def add_node(self, node):
        node.executor = self
        return True

    def create_task(self, callback, *args):
        return Task(callback, args)

    def wait_for_ready_callbacks(self):
        self._waits.wait(10**6)

    def spin_once(self, timeout_ns):
        """Nothing is ready: a timer of its own ends the wait."""
        handle = Handle()
        trace('rcl_timer_init', handle.pointer, ctypes.c_int64(timeout_ns))
        Timer(handle, None)
        self._waits.wait(timeout_ns)

    def _take_timer(self, timer):
        return timer.callback

    def _take_subscription(self, subscription):
        return subscription.callback


class SingleThreadedExecutor(Executor):
    pass
