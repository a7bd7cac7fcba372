# SPDX-License-Identifier: Apache-2.0
"""Launch files: in Python, and in XML and YAML with exposed actions and <executable>."""
import runpy
import shlex
import xml.etree.ElementTree

from .actions import ExecuteProcess
from .frontend import action_parse_methods, Entity, Parser


class AnyLaunchDescriptionSource:
    def __init__(self, path):
        self._path = path

    def load(self):
        if self._path.endswith('.py'):
            return runpy.run_path(self._path)['generate_launch_description']().entities
        import kymo_ros2.frontend  # noqa: F401  as launch loads what its entry points name
        if self._path.endswith('.xml'):
            root = xml.etree.ElementTree.parse(self._path).getroot()
            found = [(child.tag, dict(child.attrib), False) for child in root]
        else:
            import yaml
            with open(self._path, encoding='utf-8') as file:
                found = [(*one.popitem(), True) for one in yaml.safe_load(file)['launch']]
        return [self._action(*one) for one in found]

    @staticmethod
    def _action(tag, attributes, typed):
        if tag == 'executable':
            return ExecuteProcess(cmd=shlex.split(attributes['cmd']))
        entity = Entity(attributes, typed)
        kind, kwargs = action_parse_methods[tag](entity, Parser())
        entity.assert_entity_completely_parsed()
        return kind(**kwargs)
