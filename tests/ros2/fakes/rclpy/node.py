# SPDX-License-Identifier: Apache-2.0
"""Node: makes entities, and has rcl tell the tracer."""
import ctypes

from .callback_groups import MutuallyExclusiveCallbackGroup
from .client import Client
from .guard_condition import GuardCondition
from .rcl import Handle, trace
from .service import Service
from .subscription import Subscription
from .timer import Timer


class Node:
    def __init__(self, name):
        self.handle = Handle()
        self.executor = None
        self.default_callback_group = MutuallyExclusiveCallbackGroup()
        self.publishers, self.subscriptions, self.timers, self.services, self.clients, self.guards = [], [], [], [], [], []
        self.waitables = []
        trace('rcl_init', 0x100)
        trace('rcl_node_init', self.handle.pointer, 0x200, name.encode(), b'/')

    def _wake_executor(self):
        """After each new entity."""

    def _add(self, entity, entities, group):
        entity.callback_group = group or self.default_callback_group
        entity.callback_group.add_entity(entity)
        entities.append(entity)
        self._wake_executor()
        return entity

    def create_subscription(self, topic, callback, callback_group=None):
        handle = Handle()
        trace('rcl_subscription_init', handle.pointer, self.handle.pointer, handle.pointer + 0x20, topic.encode(), ctypes.c_size_t(10))
        return self._add(Subscription(handle, callback), self.subscriptions, callback_group)

    def create_timer(self, period_ns, callback):
        handle = Handle()
        trace('rcl_timer_init', handle.pointer, ctypes.c_int64(period_ns))
        return self._add(Timer(handle, callback), self.timers, None)

    def create_service(self, name, callback):
        handle = Handle()
        trace('rcl_service_init', handle.pointer, self.handle.pointer, 0x400, name.encode())
        return self._add(Service(handle, callback), self.services, None)

    def create_client(self, name):
        handle = Handle()
        trace('rcl_client_init', handle.pointer, self.handle.pointer, 0x500, name.encode())
        return self._add(Client(handle), self.clients, None)

    def create_guard_condition(self, callback):
        return self._add(GuardCondition(callback), self.guards, None)
