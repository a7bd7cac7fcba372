# SPDX-License-Identifier: Apache-2.0
"""Node: makes entities, and has rcl tell the tracer."""
import ctypes

from .client import Client
from .rcl import Handle, trace
from .service import Service
from .subscription import Subscription
from .timer import Timer


class Node:
    def __init__(self, name):
        self.handle = Handle()
        trace('rcl_init', 0x100)
        trace('rcl_node_init', self.handle.pointer, 0x200, name.encode(), b'/')

    def create_subscription(self, topic, callback):
        handle = Handle()
        trace('rcl_subscription_init', handle.pointer, self.handle.pointer, 0x300, topic.encode(), ctypes.c_size_t(10))
        return Subscription(handle, callback)

    def create_timer(self, period_ns, callback):
        handle = Handle()
        trace('rcl_timer_init', handle.pointer, ctypes.c_int64(period_ns))
        return Timer(handle, callback)

    def create_service(self, name, callback):
        handle = Handle()
        trace('rcl_service_init', handle.pointer, self.handle.pointer, 0x400, name.encode())
        return Service(handle, callback)

    def create_client(self, name):
        handle = Handle()
        trace('rcl_client_init', handle.pointer, self.handle.pointer, 0x500, name.encode())
        return Client(handle)
