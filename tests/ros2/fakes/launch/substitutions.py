# SPDX-License-Identifier: Apache-2.0
"""A substitution that is no text."""


class EnvironmentVariable:
    def __init__(self, name):
        self._name = name

    def perform(self, context):
        return context.environment[self._name]
