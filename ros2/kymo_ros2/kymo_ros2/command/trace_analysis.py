# SPDX-License-Identifier: Apache-2.0
"""Names of `ros2 trace-analysis`: process prints the report of a trace, convert writes a database."""
import os
import subprocess
import sys
import time

import kymo


def _add_process(verbs):
    verb = verbs.add_parser('process', description='Print the report of a trace.', help='print the report of a trace')
    verb.add_argument('input_path', help='the directory of a trace')
    verb.add_argument('-f', '--force-conversion', action='store_true',
                      help='write a database that already exists again; a report needs none')
    shown = verb.add_mutually_exclusive_group()
    shown.add_argument('-s', '--hide-results', action='store_true', help='do not print the report')
    shown.add_argument('-c', '--convert-only', action='store_true', help='only write the database, as convert does')
    verb.set_defaults(output_file='converted')


def _add_convert(verbs):
    text = 'Write the tables of a trace into a database for SQLite, instead of a pickle.'
    verb = verbs.add_parser('convert', description=text, help='write the tables into a database')
    verb.add_argument('input_path', help='the directory of a trace')
    verb.add_argument('-o', '--output-file', default='converted', metavar='NAME',
                      help='its name without .sqlite, in that directory (default: converted)')
    verb.set_defaults(force_conversion=True)


def add_arguments(parser):
    """The verbs of `ros2 trace-analysis`."""
    verbs = parser.add_subparsers(title='Commands', dest='analysis_verb', metavar='process, convert', required=True)
    _add_process(verbs)
    _add_convert(verbs)


def _convert(args):
    path = os.path.join(args.input_path, args.output_file + '.sqlite')
    if args.force_conversion or not os.path.exists(path):
        kymo.call('export', '-q', '--force', '--format', 'sqlite', '-o', path, args.input_path)
    print(f'converted into {path}: for sqlite3, pandas, or kymo.frames()')
    return 0


def _process(args):
    begin = time.monotonic()
    if args.convert_only:
        return _convert(args)
    output = subprocess.DEVNULL if args.hide_results else None
    status = subprocess.call([kymo.find(), 'report', args.input_path], stdout=output)
    if status == 0:
        events = kymo.query('SELECT count(*) AS n FROM events', args.input_path)[0]['n']
        print(f'processed {events} events in {time.monotonic() - begin:.2f} s')
    return status


def main(args):
    """Return 0, or another status with `error: ...` on stderr; 1 if there is no such trace, as `ros2 trace-analysis`."""
    if not os.path.exists(args.input_path):
        print(f'error: the trace does not exist: {args.input_path}', file=sys.stderr)
        return 1
    try:
        return _convert(args) if args.analysis_verb == 'convert' else _process(args)
    except kymo.Error as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
