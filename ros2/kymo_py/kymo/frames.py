# SPDX-License-Identifier: Apache-2.0
"""The tables of a trace (docs/answers/query.md) as frames of pandas or polars, and answers to SQL as dictionaries."""
import collections.abc
import contextlib
import html
import importlib
import os
import shutil
import sqlite3
import tempfile
import weakref

from .command import ask, call

# What the columns of the export are (its table "columns") in each library. NULL must not make floats of
# nanoseconds: a double has 53 bits, and a time has 61.
_TEXT, _REAL, _INTEGER, _TIME = 'text', 'real', 'integer', 'time'


def query(sql, trace=None, *options):
    """
    The rows that `kymo query` answers with, as dictionaries.

    `trace`: its directory; None: the newest one. Times are ns. Raises kymo.Error.
    """
    operand = () if trace is None else (os.path.expanduser(trace),)
    return ask('query', *options, *operand, sql)['rows']


def _columns(names, kinds, rows):
    """Name, kind and values of each column; of a time `start_ns` also those of the date and time `start`, which follows it."""
    for i, (name, kind) in enumerate(zip(names, kinds)):
        values = [row[i] for row in rows]
        yield name, _INTEGER if kind == _TIME else kind, values
        if kind == _TIME and name.endswith('_ns') and name[:-3] not in names:
            yield name[:-3], _TIME, values


def _pandas(names, kinds, rows):
    import numpy
    import pandas
    types = {_TEXT: 'object', _REAL: 'float64'}

    def series(kind, values):
        if kind == _TIME:
            return pandas.Series(numpy.array(['NaT' if value is None else value for value in values], dtype='datetime64[ns]'))
        return pandas.array(values, dtype=types.get(kind, 'Int64'))

    columns = {name: series(kind, values) for name, kind, values in _columns(names, kinds, rows)}
    return pandas.DataFrame(columns, columns=list(columns))


def _polars(names, kinds, rows):
    import polars
    types = {_TEXT: polars.Utf8, _REAL: polars.Float64, _TIME: polars.Datetime('ns')}
    return polars.DataFrame([polars.Series(name, values, dtype=types.get(kind, polars.Int64))
                             for name, kind, values in _columns(names, kinds, rows)])


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
        self._make, self._library = _MAKERS[library], library
        self._path = path
        if directory:
            weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        with self._open() as database:
            self._tables = [name for (name,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('columns', 'trace')"
                " ORDER BY name")]
            self._text = dict(database.execute('SELECT "table", text FROM columns WHERE "column" IS NULL').fetchall())

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
        return self._make(names, [_kind_of(type) for _, type in columns], rows)

    def __getattr__(self, name):
        """frames.messages is frames['messages']."""
        if name.startswith('_') or name not in self._tables:
            raise AttributeError(name)
        return self[name]

    def _counts(self):
        """Name and number of rows of each table that has some, and what it is."""
        with self._open() as database:
            counts = [(name, database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in self._tables]
        return [(name, count, self._text.get(name, '')) for name, count in counts if count]

    def __repr__(self):
        lines = [f'{name:24} {count:12,}' for name, count, _ in self._counts()]
        return '\n'.join([f"kymo.frames of {self.trace}: {len(lines)} tables with rows, frames['NAME']", *lines])

    def _repr_html_(self):
        rows = ''.join(f'<tr><td>{html.escape(name)}</td><td>{count:,}</td><td style="text-align: left">{html.escape(text)}</td></tr>'
                       for name, count, text in self._counts())
        return (f'<p>kymo.frames of {html.escape(self.trace)}</p>'
                f'<table><thead><tr><th>table</th><th>rows</th><th>what it is</th></tr></thead><tbody>{rows}</tbody></table>')

    @property
    def trace(self):
        """The path of the trace."""
        with self._open() as database:
            return database.execute('SELECT path FROM trace').fetchone()[0]

    @property
    def plot(self):
        """Plots of these frames: see kymo.plots.Plots."""
        if self._library != 'pandas':
            raise ValueError("plots need library='pandas'")
        from .plots import Plots
        return Plots(self)

    def query(self, sql):
        """The answer to SQL as a frame; SQLite runs it on the exported tables."""
        with self._open() as database:
            cursor = database.execute(sql)
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
        return self._make(names, [_kind(rows, i) for i in range(len(names))], rows)


def _kind_of(type):
    """The kind of a column of a table: its type is one word in SQL, or two: "TIME INTEGER"."""
    words = type.lower().split()
    return _TIME if words[0] in ('time', 'wall') else words[-1]


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
    'pandas' or 'polars'. Integers stay integers (Int64 with pandas.NA, polars' Int64 with null). Times are ns since 1970
    in columns such as `start_ns`, and beside them, without `_ns`, date and time in UTC: `start` (datetime64[ns]).
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
