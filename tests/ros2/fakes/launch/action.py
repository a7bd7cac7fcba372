# SPDX-License-Identifier: Apache-2.0
"""The base class of actions."""


class Action:
    def __init__(self, *, condition=None):
        self.condition = condition

    @classmethod
    def parse(cls, entity, parser):
        return cls, {}

    def visit(self, context):
        return self.execute(context)

    def execute(self, context):
        raise NotImplementedError

    def get_asyncio_future(self):
        return None
