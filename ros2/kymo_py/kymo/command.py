# SPDX-License-Identifier: Apache-2.0
"""The command: its path, how to call it, and its exit statuses as errors."""
import functools
import json
import os
import shutil
import subprocess

#: Exit statuses of kymo; docs/cli.md.
FAILED, USAGE, INPUT, LOSS, BUDGET, EMPTY = 1, 2, 3, 4, 5, 6


class Error(RuntimeError):
    """kymo exited with another status than 0: its text, `status`, and the `command`."""

    def __init__(self, message, status=FAILED, command=()):
        super().__init__(message)
        self.status = status
        self.command = list(command)


def find(env=None):
    """
    Path of the command: $KYMO, else $KYMO_BUILD/bin/kymo, else `kymo` in $PATH.

    Raises Error if there is no such command.
    """
    env = os.environ if env is None else env
    named = env.get('KYMO')
    if not named and env.get('KYMO_BUILD'):
        named = os.path.join(env['KYMO_BUILD'], 'bin', 'kymo')
    path = shutil.which(named or 'kymo', path=env.get('PATH', os.defpath))
    if not path:
        raise Error(f"{named}: there is no such program; KYMO or KYMO_BUILD names it" if named else
                    'kymo is not in PATH: install it, or set KYMO to its path', INPUT)
    return path


def error_of(command, status, text):
    """The Error for `status` and `text`, which kymo wrote to stderr."""
    text = text.strip()
    if not text:
        text = f'{" ".join(command)}: ended with status {status}'
    return Error(text, status, command)


def call(*arguments, env=None, ok=(0,), stdin=None):
    """
    Run kymo and return what it printed.

    `ok`: the statuses that are not errors. Raises Error for all others.
    Blocks until it has ended.
    """
    command = [find(env), *map(os.fspath, arguments)]
    done = subprocess.run(command, env=env, stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors='replace', check=False)
    if done.returncode not in ok:
        raise error_of(command, done.returncode, done.stderr)
    return done.stdout


def ask(verb, *arguments, env=None, ok=(0,)):
    """The object that `kymo VERB --format json ...` prints. Raises Error as call() does."""
    return json.loads(call(verb, '--format', 'json', *arguments, env=env, ok=ok))


def lines(verb, *arguments, env=None):
    """
    The objects that `kymo VERB --format json ...` prints, one per line, as they arrive.

    Raises Error after the last one if kymo failed. Leaving the loop early ends kymo.
    """
    command = [find(env), verb, '--format', 'json', *map(os.fspath, arguments)]
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            for line in process.stdout:
                yield json.loads(line)
        except GeneratorExit:
            process.kill()
            raise
        # What it has to say is a few lines: they fit into the pipe until here.
        text = process.stderr.read().decode(errors='replace')
        status = process.wait()
    if status:
        raise error_of(command, status, text)


@functools.lru_cache(maxsize=None)
def _table(path):
    done = subprocess.run([path, 'help', '--format', 'json'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise error_of([path, 'help'], done.returncode, done.stderr)
    return json.loads(done.stdout)


def verbs():
    """Name and summary of all verbs, from the command itself."""
    return {row['verb']: row['summary'] for row in _table(find())['verbs']}


def options(verb):
    """Rows of a verb's options: option, letter, kind, value, choices, help."""
    return [row for row in _table(find())['options'] if row['verb'] == verb]
