# SPDX-License-Identifier: Apache-2.0
"""
As much of ROS 2's `launch` as the tests of the launch action need, where the real one is not installed: the same names,
arguments and order of things (tests/ros2/upstream.py says which one was used).
"""
import asyncio
import os
import signal

from .action import Action


class LaunchDescription:
    def __init__(self, initial_entities=()):
        self.entities = list(initial_entities)


class LaunchContext:
    def __init__(self):
        self.environment = dict(os.environ)
        self.asyncio_loop = None
        self.handlers = []
        self.processes = []

    def register_event_handler(self, handler):
        self.handlers.append(handler)


class Shutdown:
    pass


class LaunchService:
    """Runs what it is given, in order; shuts down when nothing is left to wait for, or when told to."""

    def __init__(self, argv=None):
        self.context = LaunchContext()
        self._descriptions = []
        self._futures = []
        self._status = 0
        self._ending = False

    def include_launch_description(self, description):
        self._descriptions.append(description)

    def _visit(self, entity):
        try:
            for one in entity.visit(self.context) or ():
                self._visit(one)
        except Exception as error:
            print(f'Caught exception in launch: {error}')
            self._status = 1
            self.emit(Shutdown())
        future = entity.get_asyncio_future()
        if future is not None:
            self._futures.append(future)

    def emit(self, event):
        if isinstance(event, Shutdown):
            if self._ending:
                return
            self._ending = True
            for process in self.context.processes:
                if process.returncode is None:
                    process.send_signal(signal.SIGINT)
        for handler in list(self.context.handlers):
            if handler.matches(event):
                result = handler.handle(event, self.context)
                for entity in result if isinstance(result, (list, tuple)) else [result]:
                    if entity is not None:
                        self._visit(entity)

    async def _run(self):
        self.context.asyncio_loop = asyncio.get_running_loop()
        self.context.emit = self.emit
        for description in self._descriptions:
            for entity in description.entities:
                if not self._ending:
                    self._visit(entity)
        while self._futures or not self._ending:
            if not self._futures:
                self.emit(Shutdown())
                continue
            done, _ = await asyncio.wait(self._futures, return_when=asyncio.FIRST_COMPLETED)
            self._futures = [future for future in self._futures if future not in done]
            for future in done:
                if future.exception() is not None:
                    print(f'Caught exception in launch: {future.exception()}')
                    self._status = 1
                    self.emit(Shutdown())
        return self._status

    def run(self, shutdown_when_idle=True):
        return asyncio.run(self._run())


__all__ = ['Action', 'LaunchContext', 'LaunchDescription', 'LaunchService']
