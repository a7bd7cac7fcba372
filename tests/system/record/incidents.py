#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""A trigger makes an incident, which is completed after the recorder; a command gets it, and one that hangs is ended; the
oldest goes first; what a recorder left behind is found again; `kymo incidents` lists, shows, exports and removes."""
import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, SHARED, SOURCE, existing, in_directory, kymo, until


def need(holds, message):
    if not holds:
        raise AssertionError(message)


def said(*words, status=0):
    """Return: the lines that kymo incidents says, without its name."""
    done = subprocess.run([KYMO, 'incidents', *words], capture_output=True, text=True, timeout=300)
    need(done.returncode == status, (words, done.returncode, done.stderr))
    return [line.removeprefix('kymo incidents: ') for line in done.stderr.splitlines()]


def listed(place):
    done = subprocess.run([KYMO, 'incidents', '-d', place, '--format', 'json'], capture_output=True, text=True, timeout=300)
    need(done.returncode in (0, 6), done.stderr)
    return json.loads(done.stdout)['incidents']


def states(place):
    return [incident['state'] for incident in listed(place)]


def shown(place, name):
    return json.loads(subprocess.run([KYMO, 'incidents', 'show', name, '-d', place, '--format', 'json'], capture_output=True,
                                     text=True, check=True, timeout=300).stdout)


def record(place, *options):
    subprocess.run([KYMO, 'record', '--flight', '1s', '--post', '0', '--trigger', 'event(ros2:rcl_pub*)', '--snapshots', '1',
                    '-o', place, *options, '--', os.path.join(BUILD, 'tests', 'numbers'), '--rate', '1000', '--seconds', '60', place + '.n'],
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300, check=False)


def actions(incident):
    """The actions that come with kymo, with a ros2 and an rtla that write down how they were called."""
    tools = incident + '.tools'
    os.mkdir(tools)
    for tool, says in ('ros2', 'response: Snapshot_Response(success=$SUCCESS)'), ('rtla', 'Timer Latency'):
        with open(os.path.join(tools, tool), 'w') as file:
            file.write('#!/bin/sh\necho "%s $*" >> %s/called\n[ "$2" = record ] && exec sleep 60\necho "%s"\n' % (tool, tools, says))
        os.chmod(os.path.join(tools, tool), 0o755)

    def act(name, *words, **more):
        return subprocess.run([os.path.join(SOURCE, 'packaging', 'actions', name), *words], cwd=incident, timeout=300, check=False,
                              env=dict(os.environ, **{'PATH': tools + ':' + os.environ['PATH'], 'SUCCESS': 'True', **more})).returncode

    need(act('bag-snapshot.sh') == 0 and act('bag-snapshot.sh', '/mine/snapshot', SUCCESS='False') == 1, 'bag-snapshot.sh')
    need(act('bag-start.sh', '0.2', '/scan') == 0 and act('bag-start.sh', '0.2') == 0, 'bag-start.sh')
    need(act('rtla.sh', '3') == 0, 'rtla.sh')
    with open(os.path.join(tools, 'called')) as file:
        called = file.read().splitlines()
    need(called == ['ros2 service call /rosbag2_recorder/snapshot rosbag2_interfaces/srv/Snapshot {}',
                    'ros2 service call /mine/snapshot rosbag2_interfaces/srv/Snapshot {}', 'ros2 bag record -o bag /scan',
                    'ros2 bag record -o bag -a', 'rtla timerlat top -q -d 3s'], called)
    shutil.rmtree(tools)


def on_page(path):
    """Return: the data of a page, and in `fired` the instance that fired."""
    with open(path) as file:
        data = json.loads(gzip.decompress(base64.b64decode(re.search(r'id=data>([^<]*)<', file.read())[1])))
    data['fired'], = (instance for instance in data['instances'] if instance.get('fired'))
    return data


def receiver(place):
    """A trigger about a chain fires when the callback that receives its last message ends: the finding and `kymo why --at trigger`
    explain that instance with this callback, and the page names it, also if less than half of the time came after that message was published."""
    chain = '/sensing/image_raw -> /perception/image_filtered'
    whole = '/sensing/image_raw -> /perception/filter -> /perception/image_filtered -> /perception/fusion'
    ran = '/perception/fusion /perception/image_filtered ran 1.52 ms'      # of 3.20 ms, 1.68 ms are before the last message
    held = 'queued 830 us because /perception/fusion timer 50 ms'          # of 2.89 ms, 1.66 ms are before
    for trace in existing(os.path.join(SHARED, 'data', 'ros2-traces', 'pair_basic_st', 'ctf')):
        for number, (begin_ns, value, cause) in enumerate(((1795206324774143498, 3202809, ran), (1795206324444154207, 2893157, held))):
            name = f'20200101-00000{number}'
            shutil.copytree(trace, os.path.join(place, name, 'trace'))
            fired = {'at_ns': begin_ns + value, 'value': value, 'trigger': f'chain({chain}) > 2ms', 'what': chain}
            with open(os.path.join(place, name, 'incident.json'), 'w') as file:
                json.dump({'state': 'written', 'recorder': os.getpid(), 'boot': 'an earlier one', **fired}, file)
            with open(os.path.join(place, name, 'trace', 'kymo.json'), 'w') as file:
                json.dump({'snapshot': {'cause': 'trigger', **fired}}, file)
            need(said('finish', place) == ['completed ' + name], 'finish')
            done = shown(place, name)
            need(done['finding_about'] == 'trigger' and done['finding_begin_ns'] == begin_ns and
                 done['finding'].startswith(f'{whole}: {value / 1e6:.2f} ms') and cause in done['finding'], done)
            why = json.loads(kymo('why', os.path.join(place, name, 'trace'), '--at', 'trigger', '--format', 'json'))
            need(why['chain'] == whole and [(i['begin_ns'], i['latency_ns']) for i in why['instances']] == [(begin_ns, value)], why)
            page = on_page(os.path.join(place, name, 'page.html'))
            shows, told = page['entities'][page['fired']['entity']], page['provenance']['fired']
            need((told['name'], told['ns'], f"{told['name']}: {told['why']}") == (whole, value, done['finding']), told)
            need(shows['name'].endswith(' -> ' + whole) and page['fired']['begin'] + page['fired']['ns'] == told['begin'] + value, page['fired'])
            # A chain that you name is explained as you named it.
            named = json.loads(kymo('why', os.path.join(place, name, 'trace'), chain, '--at', 'trigger', '--format', 'json'))
            need(whole.startswith(named['chain'] + ' -> ') and named['instances'][0]['begin_ns'] == begin_ns, named)


def main(directory):
    os.environ['KYMO_DIR'] = os.path.join(directory, 'run')
    os.mkdir(os.environ['KYMO_DIR'], 0o700)
    receiver(os.path.join(directory, 'received'))
    place = os.path.join(directory, 'incidents')
    done = subprocess.run([KYMO, 'incidents', '-d', place], capture_output=True, text=True, timeout=300)
    need(done.returncode == 6 and 'no incident in ' + place in done.stderr and '--dir DIR' in done.stderr and '--trigger' in done.stderr,
         done.stderr)
    # A command that gets the JSON and the environment, and then hangs.
    record(place, '--command-limit', '3s', '--on-incident', 'cat > got; echo $KYMO_INCIDENT_NAME >> got; sleep 1000')
    until('the incident is complete and its command was ended',
          lambda: os.listdir(place) and any(i['state'] == 'complete' and 'command' in shown(place, i['name']) for i in listed(place)))
    name = listed(place)[0]['name']
    incident = shown(place, name)
    need(incident['command'] == 'ended after its time limit', incident)
    need(incident['trigger'] == 'event(ros2:rcl_pub*)' and incident['asked_by'] == 'trigger', incident)
    need(set(incident['files']) == {'trace', 'page', 'summary'}, incident)
    with open(os.path.join(place, name, 'got')) as file:
        got = file.read()
    need(got.endswith(name + '\n') and json.loads(got[:-len(name) - 1])['cause'] == incident['cause'], got)
    kymo('info', os.path.join(place, name, 'trace'))
    need(incident.get('finding_about') != 'trigger', incident)    # an event is no instance of something
    os.environ['KYMO_INCIDENTS'] = place
    need(name in kymo('--complete', 'incident').split('\n'), 'completion')
    need({'chain(', 'late', 'loss'} - set(kymo('--complete', 'trigger').split('\n')) <= {'late'}, 'completion')

    actions(os.path.join(place, name))

    # What recorders left that ended in the middle: one with a trace, one without.
    whole, broken = '20200101-000000', '20200101-000000-2'
    shutil.copytree(os.path.join(place, name, 'trace'), os.path.join(place, whole, 'trace'))
    os.mkdir(os.path.join(place, whole, 'page.html'))      # so that no page can be written
    os.mkdir(os.path.join(place, broken))
    for left in (whole, broken):
        with open(os.path.join(place, left, 'incident.json'), 'w') as file:
            file.write('{"state": "writing", "recorder": %d, "boot": "an earlier one"}' % os.getpid())
    need([(i['name'], i['state']) for i in listed(place)] ==
         [(name, 'complete'), (broken, 'incomplete'), (whole, 'written')], listed(place))
    need(said('finish', place) == [f'completed {whole}'] and said('finish', place) == [f'nothing to complete in {place}'], 'what finish says')
    need(said('finish', place, place, status=2)[0].startswith('finish: name one folder'), 'two folders')
    need(states(place) == ['complete', 'incomplete', 'complete'], listed(place))
    need('Missing: the page could not be written' in kymo('incidents', 'show', whole, '-d', place), 'a page is missing, and nobody says so')
    need('Missing' not in kymo('incidents', 'show', name, '-d', place), 'nothing is missing')

    # The oldest goes first.
    record(place, '--incidents', '--incident-count', '2')
    need(whole not in os.listdir(place) and broken not in os.listdir(place) and len(listed(place)) == 2, listed(place))
    until('both are complete', lambda: states(place) == ['complete'] * 2)

    archive = os.path.join(directory, 'one.tar.gz')
    kymo('incidents', 'export', name, '-d', place, '-o', archive)
    with tarfile.open(archive) as tar:
        need({name + '/incident.json', name + '/page.html', name + '/trace/kymo.json'} <= set(tar.getnames()), tar.getnames())
    done = subprocess.run([KYMO, 'incidents', 'show', name[:-1] + 'x', '-d', place], capture_output=True, text=True, timeout=300)
    need(done.returncode == 3 and 'did you mean' in done.stderr, done.stderr)
    need(said('rm', name, '-d', place) == [f'removed {name}'], 'what rm says')
    need(name not in os.listdir(place), 'not removed')
    rest = [f'removed {i["name"]}' for i in listed(place)]
    need(rest and sorted(said('rm', '--all', '-d', place)) == sorted(rest), rest)
    need(not listed(place), listed(place))
    need(said('rm', '--all', '-d', place) == [f'nothing to remove in {place}'], 'what rm says of none')


in_directory(main)
