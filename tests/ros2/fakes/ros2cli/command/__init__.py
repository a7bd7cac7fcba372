# SPDX-License-Identifier: Apache-2.0
"""The base class of commands."""


class CommandExtension:
    NAME = None

    def add_arguments(self, parser, cli_name, *, argv=None):
        pass

    def main(self, *, parser, args):
        raise NotImplementedError
