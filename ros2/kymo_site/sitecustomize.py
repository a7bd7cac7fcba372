# SPDX-License-Identifier: Apache-2.0
"""
Loads the hook for rclpy in every Python program that `kymo run` or `kymo record` starts.

Both put this file's directory in front of PYTHONPATH. Python imports `sitecustomize` when it starts, wherever the program
comes from: the system, a colcon workspace, a virtual environment. The hook is loaded when the program imports rclpy; other
programs pay for one comparison per import. Afterwards everything is as without kymo: the directory is not in sys.path, and
the program's own sitecustomize runs.
"""
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _execute(spec):
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


class KymoRclpy:
    """Waits for rclpy, finds nothing."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == 'rclpy':
            sys.meta_path.remove(KymoRclpy)
            try:
                _execute(importlib.util.spec_from_file_location(
                    'kymo_rclpy_hook', os.path.join(_HERE, 'kymo_rclpy_hook.py')))
            except Exception as error:  # the program is not ours
                print(f'kymo: callbacks of rclpy are not recorded: {error}', file=sys.stderr)
        return None


if os.environ.get('KYMO_RCLPY') != '0':
    sys.meta_path.insert(0, KymoRclpy)
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]
_next = importlib.machinery.PathFinder.find_spec('sitecustomize', sys.path)
if _next and _next.loader:
    _execute(_next)
