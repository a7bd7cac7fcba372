#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers
"""report --expect: each verdict about CARET's demo trace again, out of the golden numbers of caret_analyze and caret_report's rules."""
import csv
import itertools
import json
import os
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SHARED, check, run, skip

DEMO = os.path.join(SHARED, 'data/caret-demo')


def report(lines, status, *words, form='json'):
    with tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
        file.write(lines)
        file.flush()
        done = run(KYMO, 'report', os.path.join(DEMO, 'ctf'), '--architecture', os.path.join(DEMO, 'architecture.yaml'),
                                          '--format', form, '--expect', file.name, *words, status=status)
    if status not in (0, 5):
        return done.stderr.replace(file.name, 'FILE')
    return json.loads(done.stdout)['validation'] if form == 'json' else done.stdout


def golden(name):
    with open(os.path.join(DEMO, 'golden', name), newline='') as file:
        return list(csv.DictReader(file))


def verdict(values, expected, lower=0, upper=float('inf'), ratio=0.2):
    """caret_report's rules."""
    if expected <= 0:
        return 'DONT_CARE'
    low, high = [v < lower for v in values], [v > upper for v in values]
    bursts = [max([len(list(group)) for is_out, group in itertools.groupby(out) if is_out], default=0) for out in (low, high)]
    bad = max(sum(low), sum(high)) / len(values) > ratio or max(bursts) > 5
    return 'FAILED' if bad else 'PASS'


def frequencies():
    seconds = {}
    for row in golden('callback_frequency.csv'):
        seconds.setdefault(row['callback_name'].rsplit('/', 1)[0], {}).setdefault(row['callback_name'], []).append(
            int(row['frequency']))
    # Of nodes with one callback the name says which.
    values = {node: list(callbacks.values())[0][:-2] for node, callbacks in seconds.items() if len(callbacks) == 1}
    for expected in 5, 10, 12.4, 12.6, 13, 50, 0:
        row, = [row for row in report(f'^/filter_node$,subscription_callback,/topic1,{expected}\n', 5 if expected > 12.5 else 0)
                if row['result'] != 'OUT_OF_SCOPE']
        check(row['result'] == verdict(values['/filter_node'], expected, 0.8 * expected), expected, row, values['/filter_node'])
        check(row['count'] == len(values['/filter_node']) and row['max'] == max(values['/filter_node']), row)


def latencies():
    """Of a timer: no longer than its period."""
    rows = report('/sensor,timer_callback,100000000,10\n', 0)
    row, = [row for row in rows if row['what'] == 'callback latency']
    values = [int(run['callback_end_timestamp']) - int(run['callback_start_timestamp']) for run in golden('callback_instances.csv')
              if run['callback_name'].startswith('/sensor')]
    check(row['count'] == len(values) and abs(row['max'] - max(values) / 1e6) < 0.001 and row['upper'] == 100 and
          row['result'] == 'PASS', row, len(values), max(values))
    check(sum(row['result'] == 'OUT_OF_SCOPE' for row in rows) == 7, rows)


def responses():
    found = [row for row in golden('paths/target/response_time.csv') if row['variant'] == 'first0_last0']
    for case in 'all', 'best', 'worst', 'worst-with-external-latency':
        values = [int(row['response_time']) / 1e6 for row in found if row['case'] == case]
        for bound in 100, 180, 190, 200, 250, 300, 400:
            want = verdict(values, bound, upper=bound)
            row, = [row for row in report(f'target,response_time,{case},{bound}\n', 0 if want == 'PASS' else 5)
                    if row['what'] == 'response time']
            check(row['result'] == want and row['count'] == len(values), case, bound, row, want)


def topics():
    rows = report('/topic3,10\n/topic4,100\n/nowhere,1\n/nothing,0\n', 5, '--section', 'nodes')
    seen = {row['source']: (row['result'], row['object']) for row in rows if row['what'] == 'topic frequency'}
    check(seen == {'/topic3': ('PASS', '/message_driven_node -> /timer_driven_node'),
                   '/topic4': ('FAILED', '/timer_driven_node -> /actuator_dummy_node'),
                   '/nowhere': ('NOT_MEASURED', None)}, seen)
    text = report('/topic3,10\nnobody,timer_callback,5,1\n', 5, form='table')
    check('NOT_MEASURED: 1' in text and 'OUT_OF_SCOPE: 8' in text, text)


def checked():
    """kymo check judges each line of the same list as the report does; a line has the worst verdict of what it is about."""
    lines = ('# comment\n^/filter_node$,subscription_callback,/topic1,13\n^/filter_node$,subscription_callback,/topic1,5\n/topic3,10\n'
             '/topic4,100\n/nowhere,1\n/nothing,0\nsensor,timer_callback,80000000,12\ntarget,response_time,all,1\ntarget,response_time,best,9999\n')
    rows = report(lines, 5)
    with tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
        file.write(lines)
        file.flush()
        done = run(KYMO, 'check', '-c', file.name, os.path.join(DEMO, 'ctf'), '--architecture', os.path.join(DEMO, 'architecture.yaml'),
                   '--format', 'json', status=5)
    budgets = {row['line']: row for row in json.loads(done.stdout)['budgets']}
    check(sorted(budgets) == [2, 3, 4, 5, 6, 8, 9, 10] and all(row['kind'] == 'expected' for row in budgets.values()), budgets)
    kept = sum(row['result'] == 'PASS' for row in rows)
    # Of a timer's line there are two verdicts: of its frequency and its latency.
    check(kept and sum(row['verdict'] == 'kept' for row in budgets.values()) in (kept, kept - 1), budgets, rows)
    for line, verdict_of in ((2, 'violated'), (3, 'violated'), (4, 'kept'), (5, 'violated'), (6, 'violated'), (9, 'violated'), (10, 'kept')):
        check(budgets[line]['verdict'] == verdict_of, line, budgets[line])
    check('nothing was measured' in budgets[3]['why'] and budgets[5]['why'].startswith('topic frequency: mean '), budgets)


def wrong():
    for line, what in (('a,b\nx,timer_callback,soon,1', 'FILE:2: '), ('(,timer_callback,1,1', 'FILE:1: '), ('a,b,c', 'FILE:1: '),
                       ('a,b,c,d,e', 'FILE:1: '), ('a,sometimes,c,1', 'sometimes'), ('p,response_time,fast,1', 'worst')):
        check(what in report(line + '\n', 3), line)
    run(KYMO, 'report', os.path.join(DEMO, 'ctf'), '--expect', '/proc/nowhere.csv', status=3)
    run(KYMO, 'report', os.path.join(DEMO, 'ctf'), '--section', 'validation', status=2)      # nothing is expected
    report('# nothing\n\nnode_name,callback_type,trigger,value\n', 0)


if not os.path.isdir(DEMO):
    skip('there is no shared/data')
for test in frequencies, latencies, responses, topics, checked, wrong:
    test()
