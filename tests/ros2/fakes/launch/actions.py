# SPDX-License-Identifier: Apache-2.0
"""The actions that the tests use."""
import asyncio
import types

from .action import Action
from .utilities import normalize_to_list_of_substitutions, perform_substitutions


class SetEnvironmentVariable(Action):
    def __init__(self, name, value, **kwargs):
        super().__init__(**kwargs)
        self._name, self._value = map(normalize_to_list_of_substitutions, (name, value))

    def execute(self, context):
        context.environment[perform_substitutions(context, self._name)] = perform_substitutions(context, self._value)


class Shutdown(Action):
    def execute(self, context):
        from . import Shutdown as Event
        context.emit(Event())


class ExecuteProcess(Action):
    def __init__(self, *, cmd, output=None, on_exit=None, **kwargs):
        super().__init__(**kwargs)
        self._cmd, self._on_exit, self._future = cmd, on_exit, None

    def execute(self, context):
        self._future = context.asyncio_loop.create_task(self._run(context, dict(context.environment)))

    async def _run(self, context, environment):
        process = await asyncio.create_subprocess_exec(*self._cmd, env=environment)
        context.processes.append(process)
        context.emit(types.SimpleNamespace(name='ProcessStarted', pid=process.pid, action=self))
        await process.wait()
        context.emit(types.SimpleNamespace(name='ProcessExited', pid=process.pid, action=self))
        for entity in self._on_exit or ():
            entity.visit(context)

    def get_asyncio_future(self):
        return self._future


class IncludeLaunchDescription(Action):
    def __init__(self, source, **kwargs):
        super().__init__(**kwargs)
        self._source = source

    def execute(self, context):
        return self._source.load()
