# SPDX-License-Identifier: Apache-2.0
"""Timer."""


class Timer:
    def __init__(self, handle, callback):
        self.handle = handle
        self.callback = callback
