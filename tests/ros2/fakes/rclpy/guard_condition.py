# SPDX-License-Identifier: Apache-2.0
"""GuardCondition."""


class GuardCondition:
    def __init__(self, callback):
        self.callback = callback
