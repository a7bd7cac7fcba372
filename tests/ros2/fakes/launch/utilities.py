# SPDX-License-Identifier: Apache-2.0
"""Substitutions: texts, and objects with perform(context)."""


class TextSubstitution:
    def __init__(self, *, text):
        self.text = text

    def perform(self, context):
        return self.text


def normalize_to_list_of_substitutions(value):
    values = value if isinstance(value, (list, tuple)) else [value]
    return [TextSubstitution(text=one) if isinstance(one, str) else one for one in values]


def perform_substitutions(context, substitutions):
    return ''.join(one.perform(context) for one in substitutions)
