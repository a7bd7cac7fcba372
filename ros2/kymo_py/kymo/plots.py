# SPDX-License-Identifier: Apache-2.0
"""Plots of a trace's frames, with matplotlib or bokeh: `kymo.frames().plot.durations()`."""
import importlib

_ORDER = ('matplotlib', 'bokeh')


def _choose(library):
    """The library to draw with: the wanted one, or the first that is installed."""
    if library is not None and library not in _ORDER:
        raise ValueError(f"library is one of {', '.join(_ORDER)}, not {library!r}")
    for name in (library,) if library else _ORDER:
        try:
            importlib.import_module(name)
            return name
        except ImportError:
            pass
    raise ImportError(f"the Python module {library or 'matplotlib'} is not installed. On Debian: apt install python3-matplotlib"
                      + ('' if library else '; bokeh will do, too'), name=library or 'matplotlib')


class _Matplotlib:
    """A chart of matplotlib; `chart` is its Axes."""

    def __init__(self, title, x, y, log_x=False, log_y=False, names=None, **_):
        from matplotlib import pyplot
        _, self.chart = pyplot.subplots(figsize=(10, 0.35 * len(names) + 1.5 if names else 4), layout='tight')
        self.chart.set(title=title, xlabel=x, ylabel=y, xscale='log' if log_x else self.chart.get_xscale(),
                       yscale='log' if log_y else self.chart.get_yscale())
        self.chart.grid(True, alpha=0.3)
        if names:
            self.chart.set_yticks(range(len(names)), names)

    def points(self, x, y, label=None):
        self.chart.plot(x, y, linestyle='', marker='.', label=label)

    def line(self, x, y, label=None):
        self.chart.plot(x, y, label=label)

    def bars(self, edges, counts):
        self.chart.bar(edges[:-1], counts, width=[b - a for a, b in zip(edges, edges[1:])], align='edge')

    def rows(self, names, values):
        self.chart.barh(range(len(names)), values)

    def done(self, legend=False):
        if legend:
            self.chart.legend(fontsize='small')
        return self.chart


class _Bokeh:
    """A chart of bokeh; `chart` is its figure, for bokeh.plotting.show()."""

    _COLORS = ('#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f')

    def __init__(self, title, x, y, log_x=False, log_y=False, names=None, times=False):
        from bokeh.plotting import figure
        options = {'y_range': list(names)} if names else {}
        self.names, self.drawn = names, 0
        self.chart = figure(title=title, x_axis_label=x, y_axis_label=y, width=1000, height=30 * len(names) + 120 if names else 350,
                            x_axis_type='log' if log_x else 'datetime' if times else 'linear',
                            **({} if names else {'y_axis_type': 'log' if log_y else 'linear'}), **options)

    def _look(self, label):
        self.drawn += 1
        look = {'color': self._COLORS[(self.drawn - 1) % len(self._COLORS)]}
        return {**look, 'legend_label': label} if label else look

    def points(self, x, y, label=None):
        self.chart.scatter(x=list(x), y=[self.names[at] for at in y] if self.names else list(y), **self._look(label))

    def line(self, x, y, label=None):
        self.chart.line(x=list(x), y=list(y), **self._look(label))

    def bars(self, edges, counts):
        self.chart.quad(left=list(edges[:-1]), right=list(edges[1:]), top=list(counts), bottom=0, **self._look(None))

    def rows(self, names, values):
        self.chart.hbar(y=list(names), right=list(values), height=0.7, **self._look(None))

    def done(self, legend=False):
        if legend:
            self.chart.legend.location = 'bottom_right'     # at the top right is what is slowest
        return self.chart


_CHARTS = {'matplotlib': _Matplotlib, 'bokeh': _Bokeh}


class Plots:
    """
    The plots of Frames (pandas). Each returns an Axes of matplotlib or a figure of bokeh.

    `library`: 'matplotlib' or 'bokeh'; None: the first that is installed. Raises ImportError if there is none.
    """

    def __init__(self, frames):
        self._frames = frames

    def _chart(self, library, *words, **options):
        return _CHARTS[_choose(library)](*words, **options)

    def _runs(self):
        runs = self._frames['callback_instances']
        if not len(runs):
            raise ValueError('no callback ran in this trace')
        return runs.assign(ms=runs.duration_ns.astype(float) / 1e6)

    def slowest(self):
        """The callback with the longest run."""
        runs = self._runs()
        return runs.loc[runs.ms.idxmax(), 'callback']

    def durations(self, library=None):
        """How long each callback ran: median, p99 and longest run; the slowest is at the top."""
        each = self._runs().groupby('callback').ms
        values = {'median': each.median(), 'p99': each.quantile(.99), 'longest': each.max()}
        names = list(values['longest'].sort_values().index)
        chart = self._chart(library, 'How long callbacks ran', 'ms', '', log_x=True, names=names)
        for label, of in values.items():
            chart.points([of[name] for name in names], list(range(len(names))), label)
        return chart.done(legend=True)

    def over_time(self, callback=None, library=None):
        """Each run of a callback (None: the slowest), by its start."""
        runs, callback = self._runs(), callback or self.slowest()
        chosen = runs[runs.callback == callback]
        if not len(chosen):
            raise ValueError(f'no run of {callback!r}; there are: ' + ', '.join(sorted(runs.callback.unique())))
        chart = self._chart(library, callback, '', 'ms', times=True)
        chart.points(chosen.start, chosen.ms)
        return chart.done()

    def histogram(self, callback=None, bins=50, library=None):
        """How the runs of a callback (None: the slowest) are distributed."""
        runs, callback = self._runs(), callback or self.slowest()
        ms = sorted(runs[runs.callback == callback].ms)
        if not ms:
            raise ValueError(f'no run of {callback!r}; there are: ' + ', '.join(sorted(runs.callback.unique())))
        width = (ms[-1] - ms[0]) / bins or 1e-6
        counts = [0] * bins
        for value in ms:
            counts[min(int((value - ms[0]) / width), bins - 1)] += 1
        chart = self._chart(library, callback, 'ms', 'runs')
        chart.bars([ms[0] + i * width for i in range(bins + 1)], counts)
        return chart.done()

    def latencies(self, window='100ms', library=None):
        """Latency of each topic, from the publish call to the callback: the worst of each window of time."""
        messages = self._frames['messages'].dropna(subset=['latency_ns', 'publish'])
        if not len(messages):
            raise ValueError('no message reached a callback in this trace')
        messages = messages.assign(ms=messages.latency_ns.astype(float) / 1e6, window=messages.publish.dt.floor(window))
        chart = self._chart(library, f'Latency of topics, the worst of each {window}', '', 'ms', log_y=True, times=True)
        for topic, of in messages.groupby('topic_name'):
            worst = of.groupby('window').ms.max()
            chart.line(worst.index, worst.values, topic)
        return chart.done(legend=True)

    def shares(self, library=None):
        """The time that the callbacks of each node took, in all."""
        total = self._runs().groupby('node').ms.sum().sort_values()
        chart = self._chart(library, 'Time in callbacks', 'ms', '', names=list(total.index))
        chart.rows(list(total.index), list(total.values))
        return chart.done()
