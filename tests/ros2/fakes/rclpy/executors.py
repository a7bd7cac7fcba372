# SPDX-License-Identifier: Apache-2.0
"""How executors run callbacks."""
import inspect


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
