# SPDX-License-Identifier: Apache-2.0
"""What `kymo attach` does in a Python program whose objects raise errors: the program gets none of these errors, everything else is
recorded, and nothing stays alive longer than without kymo. On the fake rclpy; the functions of kymo write down their calls."""
import ctypes
import gc
import importlib.util
import os
import sys
import weakref

import pytest

ROS2 = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'ros2')


class Function:
    def __init__(self, name, calls):
        self.name, self.calls = name, calls

    def __call__(self, *arguments):
        self.calls.append((self.name, *arguments))


class Library:
    """As ctypes.PyDLL."""
    calls = []

    def __init__(self, _name):
        pass

    def __getattr__(self, name):
        return Function(name, self.calls)


class Liar:
    """Raises an error when it is asked for its class, as a proxy whose object has gone."""
    @property
    def __class__(self):
        raise ReferenceError('gone')


class Rude:
    """A callback whose attributes raise errors."""
    def __init__(self):
        self.__dict__['heard'] = []

    def __call__(self, what):
        self.heard.append(what)

    def __getattribute__(self, name):
        if name in ('heard', '__dict__', '__class__'):
            return object.__getattribute__(self, name)
        raise ValueError(name)


def load(name, *path):
    spec = importlib.util.spec_from_file_location(name, os.path.join(ROS2, *path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def called(name):
    return [call for call in Library.calls if call[0] == name]


def existing(kind):
    return [call[2] for call in called('kymo__python_exists') if call[1] == kind]


@pytest.fixture
def kymo(real, monkeypatch):
    """The module that `kymo attach` loads; it is detached at the end."""
    if real['rclpy']:
        pytest.skip('the real rclpy is here: test_real')
    monkeypatch.setattr(ctypes, 'PyDLL', Library)
    monkeypatch.setattr(Library, 'calls', [])
    module = load('kymo_rclpy_attach', 'kymo_site', 'rclpy_attach.py')
    monkeypatch.setattr(module, '_load', lambda: load('kymo_rclpy_attached', 'kymo_py', 'kymo', 'rclpy_hook.py'))
    yield module
    module.detach()


@pytest.fixture
def node(kymo):
    from rclpy.node import Node     # it may be a fake, which conftest.py has made known
    return Node('robot')


def test_objects_that_raise_when_they_are_looked_at(kymo, node):
    gone = Liar.__new__(Liar)
    proxy = weakref.proxy(type('Short', (), {})())
    timer = node.create_timer(1, print)
    kymo.attach('library')
    assert existing(b'n') == [node.handle.pointer] and existing(b't') == [timer.handle.pointer]
    assert called('kymo__python_hooked')
    del gone, proxy


def test_no_other_object_gets_a_reference(kymo, node):
    """A tuple with a second reference cannot be filled: SystemError in another thread, which is filling one."""
    tuple_, counts = (node, []), []
    before = sys.getrefcount(tuple_)
    sys.setprofile(lambda *_: counts.append(sys.getrefcount(tuple_)))
    try:
        kymo.attach('library')
    finally:
        sys.setprofile(None)
    assert existing(b'n') == [node.handle.pointer]
    assert len(counts) > 10 and set(counts) == {before}


def test_nodes_of_classes_of_the_program(kymo, node):
    class Robot(type(node)):
        pass

    class Better(Robot):
        pass
    nodes = [node, Robot('one'), Better('two')]
    kymo.attach('library')
    assert sorted(existing(b'n')) == sorted(its.handle.pointer for its in nodes)


def test_one_entity_that_raises(kymo, node):
    destroyed, timer = node.create_timer(1, print), node.create_timer(1, len)
    destroyed.handle.destroyed = True
    kymo.attach('library')
    assert existing(b't') == [timer.handle.pointer] and timer.callback is not len
    kymo.detach()
    assert timer.callback is len and destroyed.callback is print


def test_actions(kymo, node):
    """The objects of rcl_action, whose first members are the client and the service of "goal"."""
    from rclpy.rcl import Handle
    goals = {'ActionClient': 0x7000, 'ActionServer': 0x8000}
    objects = {name: ctypes.c_void_p(goal) for name, goal in goals.items()}
    handles = {name: type(name, (Handle,), {})() for name in goals}
    for name, handle in handles.items():
        handle.pointer = ctypes.addressof(objects[name])
    node.waitables += [type('Client', (), {'callback_group': None, '_client_handle': handles['ActionClient']})(),
                       type('Server', (), {'callback_group': None, '_handle': handles['ActionServer']})()]
    kymo.attach('library')
    assert called('kymo__python_exists')[1:] == [('kymo__python_exists', b'c', 0x7000, node.handle.pointer),
                                                 ('kymo__python_exists', b'v', 0x8000, node.handle.pointer)]


def test_callbacks_that_raise_when_they_are_looked_at(kymo, node):
    rude = Rude()
    guard, timer, client = node.create_guard_condition(rude), node.create_timer(1, len), node.create_client('/ask')
    kymo.attach('library')
    guard.callback('guard')
    later = node.create_guard_condition(rude)
    later.callback('later')
    future = client.call_async(1)
    future.add_done_callback(rude)
    future.set_result('answer')
    assert rude.heard == ['guard', 'later', 'answer'] and timer.callback is not len


def test_nothing_stays_alive(kymo, node):
    class Holder:
        def tick(self):
            """Something that only this object's entity has."""
    kymo.attach('library')
    client = node.create_client('/ask')
    gc.disable()
    try:
        holder, future = Holder(), client.call_async(1)
        timer = node.create_timer(1, holder.tick)
        future.add_done_callback(print)
        future.set_result('answer')
        alive = [weakref.ref(one) for one in (holder, future, timer)]
        node.timers.clear()
        node.default_callback_group.entities.clear()
        del holder, future, timer
        assert [one() for one in alive] == [None] * 3
    finally:
        gc.enable()
