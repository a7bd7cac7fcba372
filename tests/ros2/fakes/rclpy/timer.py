# SPDX-License-Identifier: Apache-2.0
"""Timer."""


class Timer:
    def __init__(self, handle, callback, callback_group=None):
        self.handle = handle
        self.callback = callback
        self.callback_group = callback_group
