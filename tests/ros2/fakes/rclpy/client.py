# SPDX-License-Identifier: Apache-2.0
"""Client, and the future of a call."""


class Future:
    def __init__(self):
        self._callbacks = []
        self._done, self._result = False, None

    def __await__(self):
        while not self._done:
            yield
        return self._result

    def add_done_callback(self, callback):
        self._callbacks.append(callback)

    def set_result(self, result):
        self._done, self._result = True, result
        for callback in self._callbacks:
            callback(result)


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
