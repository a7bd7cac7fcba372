# SPDX-License-Identifier: Apache-2.0
"""Handles, and the tracepoints of rcl and rmw that come of them."""
import ctypes
import itertools

_numbers = itertools.count(0x10000, 0x40)


def trace(name, *arguments):
    """One tracepoint, if this process is traced."""
    function = getattr(ctypes.PyDLL(None), 'ros_trace_' + name, None)
    if function is not None:
        function.restype = None
        function(*[ctypes.c_void_p(one) if type(one) is int else one for one in arguments])


class Handle:
    """A destroyed one cannot be used any more."""

    def __init__(self):
        self.pointer = next(_numbers)
        self.destroyed = False

    def __enter__(self):
        if self.destroyed:
            raise RuntimeError('the handle was destroyed')

    def __exit__(self, *_):
        pass
