# SPDX-License-Identifier: Apache-2.0
"""Trace ROS 2 programs with kymo: without a verb from one Enter to the next, in scripts with start and stop."""
import os
import signal
import sys

import kymo
from kymo import session as kymo_session

_FLIGHT = '30s'


def _events(**kwargs):
    """Names of the events that can be recorded, for completion."""
    return ['ros2:*', *sorted(row['name'] for row in kymo.ask('list', '--points')['points'])]


def _add_configuration(parser):
    parser.add_argument('-p', '--path', help='directory of the trace directory (default: $ROS_TRACE_DIR, else '
                        '$ROS_HOME/tracing, else ~/.ros/tracing)')
    parser.add_argument('-u', '--ust', nargs='*', dest='events_ust', metavar='EVENT',
                        help='events of programs, may contain * (default: all; without names: only the facts of the '
                        'start)').completer = _events
    parser.add_argument('-k', '--kernel', nargs='*', dest='events_kernel', metavar='EVENT', default=[],
                        help="record these events of the kernel (default: none)"
                        ).completer = lambda **kwargs: list(kymo_session.KERNEL_EVENTS)
    parser.add_argument('--syscall', nargs='*', dest='syscalls', metavar='SYSCALL', default=[],
                        help='record system calls, all of them (default: none)')
    parser.add_argument('-c', '--context', nargs='*', dest='context_fields', metavar='CONTEXT',
                        default=list(kymo_session.CONTEXT), help='accepted; each event has procname, vpid and vtid'
                        ).completer = lambda **kwargs: list(kymo_session.CONTEXT)
    parser.add_argument('-l', '--list', action='store_true', help='list the events and context fields that are recorded')
    parser.add_argument('-a', '--append-trace', action='store_true',
                        help='add to an existing trace directory (default: that is an error)')
    parser.add_argument('--snapshot-mode', action='store_true',
                        help=f'keep the last {_FLIGHT} in memory, until "record_snapshot"')
    parser.add_argument('-d', '--dual-session', action='store_true',
                        help='accepted; programs keep the facts of their start without any session')


def add_arguments(parser):
    """The options of `ros2 trace`, and its verbs."""
    parser.add_argument('-s', '--session-name', dest='session_name', default=kymo_session.with_timestamp('session'),
                        help='name of the session and of its directory (default: session-YYYYMMDDHHMMSS)')
    _add_configuration(parser)
    verbs = parser.add_subparsers(title='Commands', dest='trace_verb', metavar='start, pause, resume, stop, '
                                  'record_snapshot')
    for name, (_, text) in _VERBS.items():
        verb = verbs.add_parser(name, description=text, help=text)
        verb.add_argument('session_name', help='the name of the session')
        if name == 'start':
            _add_configuration(verb)


# ---- a session ----

def _say_names(names):
    for name in names:
        print(f'\t{name}')


def _announce(args, notes):
    ust, kernel = args.events_ust, args.events_kernel
    if ust is None:
        print('userspace tracing enabled (all events)')
    else:
        print(f'userspace tracing enabled ({len(ust)} events)' if ust else 'userspace tracing disabled')
        if args.list:
            _say_names(ust)
    print(f'kernel tracing enabled ({len(kernel)} events)' if kernel else 'kernel tracing disabled')
    if args.list:
        _say_names(kernel)
    print(f'syscalls tracing {"enabled" if args.syscalls else "disabled"}')
    print(f'context ({len(kymo_session.CONTEXT)} fields)')
    if args.list:
        _say_names(kymo_session.CONTEXT)
    for note in notes:
        print(f'note: {note}')


def _prepare(args):
    options, notes = kymo_session.from_ros2_tracing(args.events_ust, args.events_kernel, args.syscalls,
                                                    args.context_fields)
    if args.events_ust is not None and not args.events_ust and not args.events_kernel and not args.syscalls:
        raise kymo.Error('no events enabled', kymo.command.USAGE)
    if args.snapshot_mode:
        options.append('--flight=' + _FLIGHT)
    if args.dual_session:
        notes.append('one session is enough: programs keep the facts of their start without any session')
    path = kymo_session.new_directory(args.path, args.session_name, args.append_trace)
    _announce(args, notes)
    print(f'writing tracing session to: {path}')
    return kymo.Session(path, options)


def _wait(text):
    """Wait for Enter, the end of the input, SIGINT or SIGTERM. Return: whether it was a signal."""
    def stop(number, frame):
        raise KeyboardInterrupt
    before = signal.signal(signal.SIGTERM, stop)
    try:
        input(text)
    except EOFError:
        print()
    except KeyboardInterrupt:
        print()
        return True
    finally:
        signal.signal(signal.SIGTERM, before)
    return False


def _interactive(args):
    session = _prepare(args)
    if _wait('press enter to start...'):
        return 130
    session.start()
    _wait('press enter to stop...')
    print('stopping & destroying tracing session')
    _say_end(session.stop(), session.directory)
    return 0


def _say_end(there, directory):
    if not there:
        print(f'nothing was traced, so there is no trace {directory}: "ros2 kymo doctor" says why', file=sys.stderr)


def _start(args):
    _prepare(args).start()
    return 0


def _found(args):
    """The session of this name, whoever started it: a runtime directory has one recorder at a time."""
    status = kymo.ask('status', ok=(0, kymo.command.EMPTY))
    trace = status.get('trace') or ''
    name = os.path.basename(trace)
    # A flight recorder tells no directory. An appended trace has the name of its session above it.
    if not status.get('recorder_pid') or (trace.startswith('/') and args.session_name not in
                                          (name, os.path.basename(os.path.dirname(trace)))):
        active = f'; active is {name}' if name else ''
        raise kymo.Error(f'there is no session {args.session_name}{active}', kymo.command.EMPTY)
    session = kymo.Session(trace)
    session.recorder = status['recorder_pid']
    return session


def _stop(args):
    session = _found(args)
    _say_end(session.stop() or not session.directory.startswith('/'), session.directory)
    return 0


def _snapshot(args):
    print(_found(args).snapshot())
    return 0


def _pause(args):
    _found(args).pause()
    return 0


def _resume(args):
    _found(args).resume()
    return 0


_VERBS = {
    'start': (_start, 'begin a session, and record'),
    'pause': (_pause, 'record only the facts of programs that start'),
    'resume': (_resume, 'record again'),
    'stop': (_stop, 'end the session'),
    'record_snapshot': (_snapshot, 'write what a session in snapshot mode has in memory'),
}


def main(args):
    """Return 0, or 1 with `error: ...` on stderr, like `ros2 trace`."""
    try:
        return _VERBS[args.trace_verb][0](args) if args.trace_verb else _interactive(args)
    except kymo.Error as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
