# SPDX-License-Identifier: Apache-2.0
"""Subscription: its setter looks at how many arguments the callback takes, as that of rclpy does."""
import inspect


class Subscription:
    def __init__(self, handle, callback):
        self.handle = handle
        self.callback = callback

    @property
    def callback(self):
        return self._callback

    @callback.setter
    def callback(self, value):
        inspect.signature(value).bind(object())
        self._callback = value
