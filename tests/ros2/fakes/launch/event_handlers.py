# SPDX-License-Identifier: Apache-2.0
"""Handlers of the events that the action listens to."""
from . import Shutdown


class _Handler:
    def __init__(self, callback):
        self._callback = callback

    def handle(self, event, context):
        return self._callback(event, context)


class OnShutdown(_Handler):
    def __init__(self, *, on_shutdown):
        super().__init__(on_shutdown)

    def matches(self, event):
        return isinstance(event, Shutdown)


class OnProcessStart(_Handler):
    def __init__(self, *, target_action=None, on_start):
        super().__init__(on_start)

    def matches(self, event):
        return getattr(event, 'name', '') == 'ProcessStarted'


class OnProcessExit(_Handler):
    def __init__(self, *, target_action=None, on_exit):
        super().__init__(on_exit)

    def matches(self, event):
        return getattr(event, 'name', '') == 'ProcessExited'
