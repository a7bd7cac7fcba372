# SPDX-License-Identifier: Apache-2.0
"""The decorator that exposes an action, and what its parse() is given: an entity of XML or YAML, and a parser."""
import re
from typing import List

action_parse_methods = {}


def expose_action(name):
    def expose(kind):
        action_parse_methods[name] = kind.parse
        return kind
    return expose


class Parser:
    """Knows $(env NAME)."""

    def parse_substitution(self, text):
        from .substitutions import EnvironmentVariable
        from .utilities import TextSubstitution
        parts = re.split(r'\$\(env (\w+)\)', text)
        return [EnvironmentVariable(part) if i % 2 else TextSubstitution(text=part)
                for i, part in enumerate(parts) if part]


class Entity:
    """XML gives texts, which are converted; YAML has values of their own types. Lists of XML have a NAME-sep beside."""

    def __init__(self, attributes, typed):
        self._attributes, self._typed, self._read = attributes, typed, set()

    def get_attr(self, name, *, data_type=str, optional=False, can_be_str=True):
        if name not in self._attributes:
            if optional:
                return None
            raise AttributeError(name)
        self._read.add(name)
        value = self._attributes[name]
        if not self._typed and name + '-sep' in self._attributes:
            self._read.add(name + '-sep')
            value = value.split(self._attributes[name + '-sep'])
        if data_type is List[str]:
            right = isinstance(value, list)
        elif self._typed or isinstance(value, list):
            right = type(value) is data_type
        else:
            value = {'true': True, 'false': False}.get(value.lower(), value) if data_type is bool else \
                data_type(value)
            right = isinstance(value, data_type)
        if not right:
            raise TypeError(f'{name} is no {data_type}')
        return value

    def assert_entity_completely_parsed(self):
        left = set(self._attributes) - self._read
        if left:
            raise ValueError(f'Unexpected attribute(s) found in `kymo`: {left}')
