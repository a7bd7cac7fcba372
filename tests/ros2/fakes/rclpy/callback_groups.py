# SPDX-License-Identifier: Apache-2.0
"""Callback groups: which entities they have."""


class CallbackGroup:
    def __init__(self):
        self.entities = []

    def add_entity(self, entity):
        self.entities.append(entity)


class ReentrantCallbackGroup(CallbackGroup):
    pass


class MutuallyExclusiveCallbackGroup(CallbackGroup):
    pass
