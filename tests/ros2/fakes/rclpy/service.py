# SPDX-License-Identifier: Apache-2.0
"""Service."""


class Service:
    def __init__(self, handle, callback):
        self.handle = handle
        self.callback = callback
