# SPDX-License-Identifier: Apache-2.0
"""
Where the tests get ROS 2's Python packages from.

The real `launch` (with launch_xml, launch_yaml), `ros2cli`, `rclpy` and `launch_ros` are used where they can be imported: set PYTHONPATH,
or KYMO_ROS2_SOURCE to a directory with checkouts of github.com/ros2/launch, ros2/ros2cli and ament/ament_index. What is
not there stands in tests/ros2/fakes: the same public classes and calls, and nothing else.
"""
import glob
import importlib.util
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
ROS2 = os.path.join(HERE, '..', '..', 'ros2')
FAKES = os.path.join(HERE, 'fakes')

_CHECKOUTS = ('launch/launch', 'launch/launch_xml', 'launch/launch_yaml', 'ros2cli/ros2cli',
              'ament_index/ament_index_python')


def _there(name):
    return importlib.util.find_spec(name) is not None


def _entry_points(package, into):
    """What setup.py says, as an installed distribution has it; without setuptools, which need not be here."""
    said = {}
    stand_ins = {
        'setuptools': types.SimpleNamespace(setup=said.update, find_packages=lambda: []),
        'setuptools.command': types.SimpleNamespace(),
        'setuptools.command.install_lib': types.SimpleNamespace(install_lib=object),
    }
    before = {name: sys.modules.get(name) for name in stand_ins}
    sys.modules.update(stand_ins)
    try:
        with open(os.path.join(package, 'setup.py'), encoding='utf-8') as file:
            exec(compile(file.read(), 'setup.py', 'exec'), {'__name__': '__main__'})
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    _distribution(said['name'], said.get('entry_points', {}), into)


def _distribution(name, points, into):
    directory = os.path.join(into, f'{name}-0.1.0.dist-info')
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, 'METADATA'), 'w', encoding='utf-8') as file:
        file.write(f'Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n')
    with open(os.path.join(directory, 'entry_points.txt'), 'w', encoding='utf-8') as file:
        for group, lines in points.items():
            file.write(f'[{group}]\n' + ''.join(f'{line}\n' for line in lines))


def _prefix(into):
    """The part of an installed `launch` that is found over AMENT_PREFIX_PATH: its grammar."""
    package = os.path.dirname(importlib.util.find_spec('launch').origin)
    for grammar in glob.glob(os.path.join(package, '..', 'share', 'launch', 'frontend', 'grammar.lark')):
        share = os.path.join(into, 'share')
        os.makedirs(os.path.join(share, 'ament_index', 'resource_index', 'packages'))
        os.makedirs(os.path.join(share, 'launch'))
        with open(os.path.join(share, 'ament_index', 'resource_index', 'packages', 'launch'), 'w', encoding='utf-8'):
            pass
        os.symlink(os.path.dirname(os.path.abspath(grammar)), os.path.join(share, 'launch', 'frontend'))
        os.environ['AMENT_PREFIX_PATH'] = into


def is_real(name):
    """Whether it is no fake that is imported."""
    return 'fake-' not in importlib.util.find_spec(name).origin


def prepare(scratch):
    """
    Make sys.path and PYTHONPATH such that all can be imported. Return: for each package whether it is the real one.
    """
    paths = [os.path.abspath(os.path.join(ROS2, name)) for name in ('kymo_py', 'kymo_ros2')]
    source = os.environ.get('KYMO_ROS2_SOURCE')
    paths += [path for path in (os.path.join(source, name) for name in _CHECKOUTS if source) if os.path.isdir(path)]
    sys.path[:0] = paths
    real = {name: _there(name) for name in ('launch', 'ros2cli', 'rclpy', 'launch_ros')}
    real['launch'] = real['launch'] and all(map(_there, ('launch_xml', 'launch_yaml', 'lark', 'osrf_pycommon')))
    # Each fake by itself: a real package must not be hidden.
    for name in real:
        if not real[name]:
            view = os.path.join(scratch, 'fake-' + name)
            os.makedirs(view)
            os.symlink(os.path.join(FAKES, name), os.path.join(view, name))
            paths.insert(0, view)
            sys.path.insert(0, view)
    for name in ('kymo_py', 'kymo_ros2'):
        _entry_points(os.path.join(ROS2, name), scratch)
    if real['launch'] and not os.environ.get('AMENT_PREFIX_PATH'):
        # Of a checkout nothing is installed, so it names no parsers either.
        for name in ('xml', 'yaml'):
            _distribution(f'launch_{name}', {'launch.frontend.parser': [f'{name} = launch_{name}:Parser']}, scratch)
        _prefix(os.path.join(scratch, 'prefix'))
    paths.append(scratch)
    sys.path.append(scratch)
    os.environ['PYTHONPATH'] = os.pathsep.join(paths + os.environ.get('PYTHONPATH', '').split(os.pathsep)).rstrip(':')
    return real
