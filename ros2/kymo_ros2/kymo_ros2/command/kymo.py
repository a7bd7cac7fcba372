# SPDX-License-Identifier: Apache-2.0
"""
`ros2 kymo VERB ...`: every verb of kymo, unchanged, and for users of ros2_tracing `ros2 kymo trace` and `ros2 kymo
trace-analysis`.
"""
import argparse
import os
import signal
import subprocess

import kymo
from kymo import command as kymo_command

from ros2cli.command import CommandExtension

from . import trace, trace_analysis


class _Verb(argparse.ArgumentParser):
    """
    Takes whatever stands behind the verb and leaves it to kymo, --help too.

    Only while a shell completes, it has the verb's options.
    """

    def parse_known_args(self, args=None, namespace=None):
        if '_ARGCOMPLETE' in os.environ:
            return super().parse_known_args(args, namespace)
        namespace = argparse.Namespace() if namespace is None else namespace
        for name, value in self._defaults.items():
            setattr(namespace, name, value)
        namespace.kymo_arguments = list(args or ())
        return namespace, []


def _add_option(parser, row):
    flags = ['--' + row['option']] + (['-' + row['letter']] if row['letter'] else [])
    if row['kind'] == 'flag':
        parser.add_argument(*flags, action='store_true')
    elif row['kind'] == 'switch':
        parser.add_argument(*flags, nargs='?', choices=row['choices'].split('|'))
    elif row['kind'] == 'choice':
        parser.add_argument(*flags, choices=row['choices'].split('|'))
    else:
        parser.add_argument(*flags, action='append')


def _add_verb(verbs, name):
    parser = verbs.add_parser(name, add_help=False)
    parser.set_defaults(kymo_verb=name)
    if '_ARGCOMPLETE' in os.environ:
        for row in kymo_command.options(name):
            _add_option(parser, row)
        parser.add_argument('operands', nargs='*')


class KymoCommand(CommandExtension):
    """Record what a robot did, and see why it was late."""

    def add_arguments(self, parser, cli_name, *, argv=None):
        self._parser = parser
        table = kymo.verbs()
        width = max(map(len, [*table, 'trace-analysis']))
        text = ''.join(f'{name:{width}}  {summary}\n' for name, summary in
                       [*table.items(), ('trace', 'the verbs and options of "ros2 trace"'),
                        ('trace-analysis', 'the verbs of "ros2 trace-analysis"')])
        verbs = parser.add_subparsers(title='Commands', description=text, parser_class=_Verb, dest='kymo_verb',
                                      metavar=f'Call `{cli_name} <command> -h` for more detailed usage.')
        for name in table:
            _add_verb(verbs, name)
        verbs._parser_class = argparse.ArgumentParser
        trace.add_arguments(verbs.add_parser('trace', description=trace.__doc__))
        trace_analysis.add_arguments(verbs.add_parser('trace-analysis', description=trace_analysis.__doc__))

    def main(self, *, parser, args):
        if not args.kymo_verb:
            self._parser.print_help()
            return 0
        if args.kymo_verb == 'trace':
            return trace.main(args)
        if args.kymo_verb == 'trace-analysis':
            return trace_analysis.main(args)
        command = [kymo.find(), args.kymo_verb, *args.kymo_arguments]
        # Ctrl-C goes to both; it is kymo that ends by it, with a status of its own. A KeyboardInterrupt that comes
        # when kymo has just ended would lose its status; a handler is not passed on to kymo, SIG_IGN is.
        before = signal.getsignal(signal.SIGINT)
        if before != signal.SIG_IGN:
            signal.signal(signal.SIGINT, lambda *_: None)
        try:
            return subprocess.call(command)
        finally:
            signal.signal(signal.SIGINT, before)
