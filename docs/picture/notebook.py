#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: notebook.py [BUILD [PNG]] -- records examples/robot with the kymo of BUILD (default: build) and draws notebook.png: two plots of the
example notebook. Needs python3-pandas and python3-matplotlib."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, '../../build'))
PNG = sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, 'notebook.png')
sys.path.insert(0, os.path.join(HERE, '../../ros2/kymo_py'))
os.environ['KYMO_BUILD'] = BUILD

import matplotlib  # noqa: E402
matplotlib.use('Agg')
from matplotlib import image, pyplot  # noqa: E402
import kymo  # noqa: E402

with tempfile.TemporaryDirectory() as scratch:
    os.mkdir(f'{scratch}/kymo', 0o700)
    trace = f'{scratch}/robot'
    subprocess.run([kymo.find(), 'record', '-q', '-o', trace, '--', f'{BUILD}/robot/robot', '--seconds', '3'], check=True,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, KYMO_DIR=f'{scratch}/kymo'))
    plots, drawn = kymo.frames(trace).plot, []
    for number, draw in enumerate((plots.durations, plots.latencies)):
        draw(library='matplotlib').figure.savefig(f'{scratch}/{number}.png', dpi=100)
        drawn.append(image.imread(f'{scratch}/{number}.png'))
height = sum(picture.shape[0] for picture in drawn) / 100
figure = pyplot.figure(figsize=(10, height), dpi=100)
top = 1.0
for picture in drawn:
    share = picture.shape[0] / 100 / height
    figure.add_axes((0, top - share, 1, share)).imshow(picture)
    figure.axes[-1].set_axis_off()
    top -= share
figure.savefig(PNG, dpi=100)
