# SPDX-License-Identifier: Apache-2.0
"""The hook for rclpy. Without the real rclpy: on classes of the same names, attributes and calls (fakes/rclpy)."""
import json
import os
import subprocess
import sys

import pytest

import kymo

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = sys.executable
MODULE = os.path.join(HERE, '..', '..', 'ros2', 'kymo_py')
NODE = os.path.join(HERE, 'hook_node.py')

# Ways to load it.
WAYS = {
    'run': [PYTHON, NODE],
    'module': [PYTHON, '-m', 'kymo.rclpy_hook', NODE],
    'behind': [PYTHON, '-c', f'import rclpy.node, kymo.rclpy_hook, runpy; runpy.run_path({NODE!r})'],
    # As the interpreter does with what is installed in its site directories.
    'pth': ['env', f'PYTHONPATH={os.environ.get("PYTHONPATH")}', 'KYMO_RCLPY=1', PYTHON, '-c',
            f'import site, runpy; site.addsitedir({MODULE!r}); runpy.run_path({NODE!r})'],
}


@pytest.fixture(autouse=True)
def fake_only(real):
    if real['rclpy']:
        pytest.skip('the real rclpy is here: test_real')


@pytest.mark.parametrize('way', WAYS)
def test_callbacks(kymo_record, way):
    recording = kymo_record(WAYS[way])
    assert (recording.status, recording.output) == (0, 'hooked\n'), recording.output
    # The coroutine has the thread twice each time: until it waits, and from then on.
    runs = {row['label'].replace('<run_path>', '__main__'): row['n'] for row in recording.query(
        'SELECT c.label, count(*) AS n FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id GROUP BY c.id')}
    assert runs == {'/listener /chatter': 1, '/listener timer 10 ms': 2, '/listener /add': 4, '/listener timer 100 ms': 1,
                    '/listener /multiply': 1, '__main__.Listener.guarded': 1, '__main__.Listener.hear': 1,
                    '__main__.Listener.steps': 4}
    resumed = recording.query('SELECT c.source, count(*) AS n FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id '
                              'WHERE i.is_resumed GROUP BY c.id')
    assert [row['n'] for row in resumed] == [2, 2] and resumed[0]['source'] == '/add'
    assert recording.query("SELECT source FROM callbacks WHERE kind = 'client'") == [{'source': '/multiply'}]
    symbols = {row['raw_symbol'] for row in recording.query('SELECT raw_symbol FROM callbacks')}
    assert {name.split('.', 1)[1] for name in symbols} == {
        f'Listener.{name}' for name in ('hear', 'tick', 'add', 'fail', 'guarded', 'steps')} | {'executors.Executor.spin_once'}
    assert recording.query('SELECT type FROM executors') == [{'type': 'single_threaded_executor'}]
    groups = {row['topic_name']: row['type'] for row in recording.query(
        'SELECT s.topic_name, g.type FROM callback_groups g LEFT JOIN subscriptions s ON s.callback_group_id = g.id')}
    assert groups == {'/chatter': 'reentrant', None: 'mutually_exclusive'}
    recording.assert_order('rclcpp_executor_get_next_ready', 'rclcpp_executor_wait_for_work', 'rclcpp_executor_execute')
    assert recording.query('SELECT count(*) AS n FROM unfinished_instances') == [{'n': 0}]
    recording.assert_order('rcl_subscription_init', 'rclcpp_subscription_init', 'rclcpp_subscription_callback_added',
                           'rclcpp_callback_register', 'callback_start', 'callback_end')
    recording.assert_count('rclcpp_timer_link_node', 2, 2)
    assert {row['period_ns']: row['symbol'].split('.')[-1] for row in recording.query(
        'SELECT t.period_ns, c.symbol FROM timers t JOIN callbacks c ON c.timer_id = t.id')} == {
            10**7: 'tick', 10**8: 'fail', 10**9: 'spin_once'}


def test_a_timer_that_awaits(kymo_record, tmp_path):
    """Its period is that of its calls: what it does after an await is none."""
    recording = kymo_record([PYTHON, '-c', """
import time, rclpy.executors
from rclpy.node import Node

class Pause:
    def __await__(self):
        yield time.sleep(0.004)

async def tick():
    for _ in range(3):
        await Pause()

timer = Node('waiter').create_timer(20 * 10**6, tick)
for _ in range(15):
    due = time.monotonic() + 0.02
    rclpy.executors.run(rclpy.executors.await_or_execute(timer.callback))
    time.sleep(max(0, due - time.monotonic()))
"""])
    assert recording.status == 0, recording.output
    summary = str(tmp_path / 'a.summary')
    subprocess.run([kymo.find(), 'report', recording.trace, '--format', 'summary', '-o', summary], check=True)
    timer, = json.loads(subprocess.run([kymo.find(), 'report', summary, '--format', 'json'], stdout=subprocess.PIPE, check=True).stdout)['timers']
    assert timer['runs'] == 60 and timer['period_p50_ns'] > 19 * 10**6, timer


def test_nothing_without_a_tracer_or_a_wish(kymo_record):
    said = subprocess.run(WAYS['module'], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert said == 'plain\n'
    said = subprocess.run(WAYS['module'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, KYMO_VERBOSE='1')).stderr
    assert 'kymo.rclpy_hook: no tracer in this process' in said
    assert kymo_record(['env', 'KYMO_RCLPY=0', *WAYS['run']]).output == 'plain\n'


def test_own_sitecustomize(kymo_record, tmp_path, monkeypatch):
    """The program's own still runs, and the program does not see kymo's."""
    (tmp_path / 'sitecustomize.py').write_text('import sys; print("mine", "rclpy" in sys.modules)\n')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=os.pathsep)
    look = ('import os, runpy, sys, sitecustomize; print(sitecustomize.__file__, "ctypes" in sys.modules,'
            '[path for path in sys.path if os.path.exists(os.path.join(path, "kymo_rclpy_hook.py"))]);'
            f'runpy.run_path({NODE!r}, run_name="__main__")')
    recording = kymo_record([PYTHON, '-c', look])
    assert recording.output == f'mine False\n{tmp_path}/sitecustomize.py False []\nhooked\n'


def test_usage():
    said = subprocess.run([PYTHON, '-m', 'kymo.rclpy_hook'], stderr=subprocess.PIPE, text=True, check=False)
    assert said.returncode == 1 and said.stderr.startswith('Usage: ')
