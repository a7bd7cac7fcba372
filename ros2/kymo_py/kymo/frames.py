# SPDX-License-Identifier: Apache-2.0
"""The tables of a trace (docs/query.md) as frames of pandas or polars, and answers to SQL as dictionaries."""
import collections.abc
import contextlib
import importlib
import os
import shutil
import sqlite3
import tempfile
import weakref

from .command import ask, call

# What the columns of the export are (its table "columns") in each library. NULL must not make floats of
# nanoseconds: a double has 53 bits, and a time has 61.
_TEXT, _REAL, _INTEGER = 'text', 'real', 'integer'


def query(sql, trace=None, *options):
    """
    The rows that `kymo query` answers with, as dictionaries.

    `trace`: its directory; None: the newest one. Times are ns. Raises kymo.Error.
    """
    operand = () if trace is None else (os.path.expanduser(trace),)
    return ask('query', *options, *operand, sql)['rows']


def _pandas(names, kinds, rows):
    import pandas
    types = {_TEXT: 'object', _REAL: 'float64'}
    return pandas.DataFrame({name: pandas.array([row[i] for row in rows], dtype=types.get(kind, 'Int64'))
                             for i, (name, kind) in enumerate(zip(names, kinds))}, columns=names)


def _polars(names, kinds, rows):
    import polars
    types = {_TEXT: polars.Utf8, _REAL: polars.Float64}
    return polars.DataFrame([polars.Series(name, [row[i] for row in rows], dtype=types.get(kind, polars.Int64))
                             for i, (name, kind) in enumerate(zip(names, kinds))])


_MAKERS = {'pandas': _pandas, 'polars': _polars}


def _require(library):
    """Check that the library is installed, before a trace is exported for it."""
    try:
        importlib.import_module(library)
    except ImportError as error:
        raise ImportError(f"the Python module {library} is not installed ({error}). On Debian: apt install python3-pandas, which is the "
                          "default library. Without any: kymo.query() answers SQL with dictionaries, and "
                          "'kymo export --format sqlite' writes a database for the module sqlite3", name=library) from None


class Frames(collections.abc.Mapping):
    """A frame for each table's name, created on request; returned by frames()."""

    def __init__(self, path, library, directory=None):
        self._make = _MAKERS[library]
        self._path = path
        if directory:
            weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        with self._open() as database:
            self._tables = [name for (name,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('columns', 'trace')"
                " ORDER BY name")]

    def _open(self):
        return contextlib.closing(sqlite3.connect(self._path))

    def __len__(self):
        return len(self._tables)

    def __iter__(self):
        return iter(self._tables)

    def __getitem__(self, name):
        if name not in self._tables:
            raise KeyError(name)
        with self._open() as database:
            columns = database.execute('SELECT "column", type FROM columns WHERE "table" = ? AND type IS NOT NULL',
                                       (name,)).fetchall()
            names = [column for column, _ in columns]
            wanted = ', '.join(f'"{column}"' for column in names)
            rows = database.execute(f'SELECT {wanted} FROM "{name}"').fetchall()
        return self._make(names, [type.lower() for _, type in columns], rows)

    def __getattr__(self, name):
        """frames.messages is frames['messages']."""
        if name.startswith('_') or name not in self._tables:
            raise AttributeError(name)
        return self[name]

    def query(self, sql):
        """The answer to SQL as a frame; SQLite runs it on the exported tables."""
        with self._open() as database:
            cursor = database.execute(sql)
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
        return self._make(names, [_kind(rows, i) for i in range(len(names))], rows)


def _kind(rows, column):
    """The type of a column; in SQLite each value has a type of its own."""
    kinds = {type(row[column]) for row in rows}
    if str in kinds:
        return _TEXT
    return _REAL if float in kinds else _INTEGER


def frames(trace=None, *options, library='pandas'):
    """
    The tables of a trace as frames: `kymo.frames('walk')['messages']`.

    `trace`: its directory; None: the newest one. `options`: those of `kymo export`, as '--topic=/scan'. `library`:
    'pandas' or 'polars'. Integers stay integers (Int64 with pandas.NA, polars' Int64 with null), times are ns.
    It writes a database into the temporary directory, which goes with the object. Raises kymo.Error; ImportError, if
    the library is not installed.
    """
    if library not in _MAKERS:
        raise ValueError(f"library is one of {', '.join(sorted(_MAKERS))}, not {library!r}")
    _require(library)
    directory = tempfile.mkdtemp(prefix='kymo-frames-')
    try:
        path = os.path.join(directory, 'trace.sqlite')
        operand = () if trace is None else (os.path.expanduser(trace),)
        call('export', '-q', '--format', 'sqlite', '-o', path, *options, *operand)
        return Frames(path, library, directory)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
