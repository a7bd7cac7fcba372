# SPDX-License-Identifier: Apache-2.0
"""
kymo from Python: its command, traces as dictionaries and frames, recordings, tests.

Everything is done by the command `kymo`; this calls it and reads its JSON. Nothing here is imported before it is used:
the module needs no package but Python's own.
"""
from .command import ask, call, Error, find, verbs
from .frames import frames, query
from .handler import Handler, on, process
from .reader import events, get_trace_events, is_trace_directory
from .session import Session

__all__ = ['ask', 'call', 'Error', 'events', 'find', 'frames', 'get_trace_events', 'Handler', 'is_trace_directory', 'on', 'process',
           'query', 'Session', 'verbs']
