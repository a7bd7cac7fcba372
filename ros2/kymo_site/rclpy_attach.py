# SPDX-License-Identifier: Apache-2.0
"""
`kymo attach` in a Python program: records the callbacks of rclpy's nodes that exist already, and of those to come.

libkymo-ros2.so runs attach() and detach() in a thread of its own, which has the interpreter's lock
(src/inside/ros2/ros2_python.c). The nodes are found among the objects that the garbage collector knows. rclpy knows everything
about their entities: so each of them gets its names from rcl, its node, its callback group and the name of its callback.
"""
import contextlib
import gc
import importlib.util
import os
import sys

_attached = None


def _load():
    """The hook, which lies beside this file."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'kymo_rclpy_hook.py')
    spec = importlib.util.spec_from_file_location('kymo_rclpy_attached', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _exists(tracer, kind, entity, node):
    with entity.handle, node.handle:
        tracer.exists(kind, entity.handle.pointer, node.handle.pointer)


def _find_entity(hook, tracer, kind, entity, node):
    _exists(tracer, kind, entity, node)
    with entity.handle:
        hook.tell_member(tracer, entity.callback_group, entity)
        for future in list(getattr(entity, '_pending_requests', {}).values()):
            with future._lock:
                future._callbacks = [hook.of_client(tracer, callback, entity.handle.pointer) for callback in future._callbacks]


def _find(hook, tracer, node):
    """Record the facts of a node that existed before, and wrap the callbacks of its entities."""
    _exists(tracer, b'n', node, node)
    for publisher in list(node.publishers):
        _exists(tracer, b'p', publisher, node)
    for kind, entity in hook.entities(node):
        if kind:
            _find_entity(hook, tracer, kind, entity, node)
        if hasattr(entity, 'callback'):
            hook.wrap(tracer, entity, hook.TELLS[kind])
    hook.tell_node(tracer, node)


def attach(library):
    """The library was loaded into this program."""
    global _attached
    detach()
    hook = _load()
    _attached = tracer = hook.install(library)
    if not tracer:
        return
    node = sys.modules.get('rclpy.node')
    for its in gc.get_objects() if node else ():
        if isinstance(its, node.Node):
            try:
                _find(hook, tracer, its)
            except Exception as error:  # the program is not ours
                hook.complain(f'a node of before has no names: {error}')
    tracer.hooked()


def detach():
    """Everything is as before attach()."""
    global _attached
    tracer, _attached = _attached, None
    for undo in reversed(tracer.undo if tracer else ()):
        with contextlib.suppress(Exception):    # the program is not ours
            undo()
