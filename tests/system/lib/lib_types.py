# SPDX-License-Identifier: Apache-2.0
"""The hash of a ROS 2 type, RIHS01 of REP 2011: SHA-256 of a JSON text that describes the type and those that it contains.

rihs01('std_msgs/msg/String')
Types are described here a second time, from their interface files."""
import hashlib
import json

NUMBERS = {'int8': 2, 'uint8': 3, 'int32': 6, 'uint32': 7, 'int64': 8, 'string': 17, 'string<=256': 21}
ARRAY, SEQUENCE = 48, 144

# name -> (the hash that ROS 2 is known to have for it, fields)
TYPES = {
    'std_msgs/msg/String': ('RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18', 'string data'),
    'builtin_interfaces/msg/Time': (None, 'int32 sec, uint32 nanosec'),
    'rosgraph_msgs/msg/Clock': ('RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564',
                                'builtin_interfaces/msg/Time clock'),
    'rmw_dds_common/msg/Gid': (None, 'uint8[16] data'),
    'rmw_dds_common/msg/NodeEntitiesInfo': (None, 'string<=256 node_namespace, string<=256 node_name, '
                                                  'rmw_dds_common/msg/Gid[] reader_gid_seq, rmw_dds_common/msg/Gid[] writer_gid_seq'),
    'rmw_dds_common/msg/ParticipantEntitiesInfo': (
        'RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e',
        'rmw_dds_common/msg/Gid gid, rmw_dds_common/msg/NodeEntitiesInfo[] node_entities_info_seq'),
    'caret_msgs/msg/Start': (None, 'uint32 recording_frequency, string ignore_nodes, string ignore_topics, string select_nodes, '
                                   'string select_topics'),
    'caret_msgs/msg/End': (None, 'uint8 structure_needs_at_least_one_member'),
    'caret_msgs/msg/Status': (None, 'string caret_node_name, int8 status, string[] node_names, int64 pid'),
}


def field(text):
    """What a field is in the description; and the type that it contains, or None."""
    kind, name = text.split()
    kind, brackets, size = kind.partition('[')
    size = size.rstrip(']')
    number = NUMBERS.get(kind, 1) + (0 if not brackets else ARRAY if size else SEQUENCE)
    nested = kind if kind in TYPES else None
    return {'name': name, 'type': {'type_id': number, 'capacity': int(size or 0), 'string_capacity': 256 if '<=256' in kind else 0,
                                   'nested_type_name': nested or ''}}, nested


def describe(name):
    """The description of a type, and the names of all types in it."""
    fields = [field(text) for text in TYPES[name][1].split(', ')]
    inner = {nested for _, nested in fields if nested}
    for nested in list(inner):
        inner |= describe(nested)[1]
    return {'type_name': name, 'fields': [description for description, _ in fields]}, inner


def rihs01(name):
    description, inner = describe(name)
    whole = {'type_description': description, 'referenced_type_descriptions': [describe(other)[0] for other in sorted(inner)]}
    return 'RIHS01_' + hashlib.sha256(json.dumps(whole).encode()).hexdigest()
