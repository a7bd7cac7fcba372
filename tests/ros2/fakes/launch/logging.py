# SPDX-License-Identifier: Apache-2.0
"""Loggers that print."""
import sys


class _Logger:
    def __init__(self, name):
        self._name = name

    def info(self, text):
        print(f'[{self._name}]: {text}', file=sys.stderr)

    error = warning = info


def get_logger(name):
    return _Logger(name)
