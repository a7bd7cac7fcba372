# SPDX-License-Identifier: Apache-2.0
"""
`kymo attach` in a Python program: records the callbacks of rclpy's nodes that exist already, and of those to come.

libkymo-ros2.so runs attach() and detach() in a thread of its own, which has the interpreter's lock
(src/inside/ros2/ros2_python.c). The nodes are found among the objects that the garbage collector knows. rclpy knows everything about
their entities: so each of them gets its names from rcl, its node, its callback group and the name of its callback.
"""
import contextlib
import ctypes
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


def _try(hook, look, *args):
    try:
        look(*args)
    except Exception as error:  # the program is not ours
        hook.complain(f'{look.__name__}: what existed before is not recorded: {error}')


def _exists(tracer, kind, entity, node):
    with entity.handle, node.handle:
        tracer.exists(kind, entity.handle.pointer, node.handle.pointer)


def _action_exists(tracer, waitable, node):
    """An action has the names of its "goal": that client or service is the first member of what rcl_action's object points to."""
    for attribute, kind in ('_client_handle', b'c'), ('_handle', b'v'):
        handle = getattr(waitable, attribute, None)
        if type(handle).__name__ in ('ActionClient', 'ActionServer'):
            with handle, node.handle:
                tracer.exists(kind, ctypes.c_void_p.from_address(handle.pointer).value, node.handle.pointer)


def _name(hook, tracer, node):
    """Record the names of a node and of its entities."""
    _try(hook, _exists, tracer, b'n', node, node)
    for publisher in list(node.publishers):
        _try(hook, _exists, tracer, b'p', publisher, node)
    for kind, entity in hook.entities(node):
        if kind:
            _try(hook, _exists, tracer, kind, entity, node)
    for waitable in list(node.waitables):
        _try(hook, _action_exists, tracer, waitable, node)


def _wrap_entity(hook, tracer, kind, entity):
    if kind:
        with entity.handle:
            hook.tell_member(tracer, entity.callback_group, entity)
            for future in list(getattr(entity, '_pending_requests', {}).values()):
                with future._lock:
                    future._callbacks = [hook.of_client(tracer, its, entity.handle.pointer) for its in future._callbacks]
    if hasattr(entity, 'callback'):
        hook.wrap(tracer, entity, hook.TELLS[kind])


def _wrap(hook, tracer, node):
    """Record the callback groups of a node, and wrap the callbacks of its entities."""
    for kind, entity in hook.entities(node):
        _try(hook, _wrap_entity, hook, tracer, kind, entity)
    hook.tell_node(tracer, node)


def _nodes():
    """
    The nodes of this program: what refers to their classes.

    Not all objects that the garbage collector knows (gc.get_objects()). A tuple that another thread is filling is among them, and
    cannot be filled while anybody else has a reference to it: PyTuple_SetItem() raises SystemError, in rclpy in the middle of a take.
    """
    module = sys.modules.get('rclpy.node')
    kinds = [module.Node] if module else []
    for kind in kinds:
        kinds += type.__subclasses__(kind)
    # Not isinstance(), which asks an object for its __class__: proxies of the program run code then, and may raise.
    return [its for its in gc.get_referrers(*kinds) if issubclass(type(its), module.Node)] if kinds else []


def attach(library):
    """The library was loaded into this program. Names come first: they are facts about what the callbacks belong to."""
    global _attached
    detach()
    hook = _load()
    _attached = tracer = hook.tracer_of(library)
    if not tracer:
        return
    nodes = _nodes()
    for node in nodes:
        _try(hook, _name, hook, tracer, node)
    hook.install(tracer)
    for node in nodes:
        _try(hook, _wrap, hook, tracer, node)
    tracer.hooked()


def detach():
    """Everything is as before attach()."""
    global _attached
    tracer, _attached = _attached, None
    for undo in reversed(tracer.undo if tracer else ()):
        with contextlib.suppress(Exception):    # the program is not ours
            undo()
