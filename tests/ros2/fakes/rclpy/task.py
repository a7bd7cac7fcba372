# SPDX-License-Identifier: Apache-2.0
"""The future of a call, and of whatever a program waits for."""


class Future:
    def __init__(self):
        self._callbacks = []
        self._done, self._result = False, None

    def __await__(self):
        while not self._done:
            yield
        return self._result

    def done(self):
        return self._done

    def add_done_callback(self, callback):
        self._callbacks.append(callback)

    def set_result(self, result):
        self._done, self._result = True, result
        for callback in self._callbacks:
            callback(result)
