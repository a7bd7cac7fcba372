# SPDX-License-Identifier: Apache-2.0
"""Clients."""
from rclpy.task import Future


class Client:
    def __init__(self, handle):
        self.handle = handle
        self.pending = []

    def call_async(self, request):
        future = Future()
        future.add_done_callback(self.remove_pending_request)
        self.pending.append(future)
        return future

    def remove_pending_request(self, result):
        self.pending.pop(0)

    def destroy(self):
        pass
