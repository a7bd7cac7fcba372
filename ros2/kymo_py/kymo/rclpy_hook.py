# SPDX-License-Identifier: Apache-2.0
"""
Tells the tracer when callbacks of rclpy run, with the tracepoints of rclcpp.

What rcl and rmw do (nodes, publishers, messages, timers) is recorded of Python programs anyway; their callbacks are not,
since rclpy has no tracepoints. `kymo run` and `kymo record` load this in programs that import rclpy. Other ways, for programs
that got the preload library in another way, or read no PYTHONPATH:

    import kymo.rclpy_hook                         # in the program, before or after `import rclpy`
    python3 -m kymo.rclpy_hook node.py ARG...      # without touching it
    KYMO_RCLPY=1                                   # where kymo_py is installed (its kymo.pth)

Each subscription, timer, service, guard condition and event handler that is made from then on calls its callback through a
function that emits callback_start and callback_end; so does each task, and each callback that is added to the future of a
client's call. Executors and callback groups are recorded as those of rclcpp. Without the preload library nothing is changed
at all.

`kymo attach` loads this into a program that runs (kymo_rclpy_attach.py).

Context: the calling thread, as rclpy calls back. A pair of events costs two calls through ctypes.
"""
import contextlib
import ctypes
import functools
import importlib.abc
import importlib.machinery
import inspect
import itertools
import os
import re
import sys
import threading
import weakref

_ADDRESS = ctypes.c_void_p
_POINTS = {
    'rclcpp_subscription_init': (_ADDRESS, _ADDRESS),
    'rclcpp_subscription_callback_added': (_ADDRESS, _ADDRESS),
    'rclcpp_service_callback_added': (_ADDRESS, _ADDRESS),
    'rclcpp_timer_callback_added': (_ADDRESS, _ADDRESS),
    'rclcpp_timer_link_node': (_ADDRESS, _ADDRESS),
    'rclcpp_callback_register': (_ADDRESS, ctypes.c_char_p),
    'callback_start': (_ADDRESS, ctypes.c_bool),
    'callback_end': (_ADDRESS,),
    'rclcpp_executor_get_next_ready': (),
    'rclcpp_executor_wait_for_work': (ctypes.c_int64,),
    'rclcpp_executor_execute': (_ADDRESS,),
}
# What no function of tracetools reports (src/inside/ros2/ros2_python.c); kinds are characters.
_FACTS = {
    'executor': (_ADDRESS, ctypes.c_char_p),
    'group': (_ADDRESS, _ADDRESS, ctypes.c_bool),
    'member': (ctypes.c_char, _ADDRESS, _ADDRESS),
    'gone': (ctypes.c_char, _ADDRESS),
    'exists': (ctypes.c_char, _ADDRESS, _ADDRESS),
    'hooked': (),
    'gil': (ctypes.c_bool,),
    'resume': (_ADDRESS, ctypes.c_uint64, ctypes.c_uint64),
    'await': (_ADDRESS, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, _ADDRESS),
}
_TASKS_MAX = 4096   # functions that are tasks
# What a coroutine waits for, as in ros2_kymo:callback_await.
_UNKNOWN, _FUTURE, _RESPONSE, _TASK, _SLEEP, _GOAL, _RESULT = range(7)
_DEEP = 64          # coroutines that await one another, at most


class _Tracer:
    """The functions of kymo that this process has; PyDLL: they never block, so the interpreter's lock is kept."""

    def __init__(self, library):
        process = ctypes.PyDLL(library)
        for prefix, functions in ('ros_trace_', _POINTS), ('kymo__python_', _FACTS):
            for name, types in functions.items():
                function = getattr(process, prefix + name)
                function.argtypes, function.restype = types, None
                setattr(self, name, function)
        self.told = weakref.WeakSet()   # executors, and objects that are in no other list of kymo's
        self.groups = weakref.WeakKeyDictionary()   # the callback groups that were told, by executor
        self.tasks = {}                 # code objects that are tasks, by address: they stay alive
        self.named = set()              # of them, those that have a symbol in the trace
        self.clients = set()            # addresses of clients whose callback has a symbol
        self.coroutines = itertools.count(1)
        self.awaited = weakref.WeakKeyDictionary()  # what a future is of: a kind and a handle
        self.wrapped = weakref.WeakSet()    # entities whose callback was replaced
        self.undo = [self._unwrap]      # what to call when kymo is detached

    def set(self, target, name, value):
        """Set an attribute until kymo is detached."""
        before = target.__dict__[name] if name in getattr(target, '__dict__', {}) else getattr(target, name)
        setattr(target, name, value)
        self.undo.append(lambda: setattr(target, name, before))

    def _unwrap(self):
        for entity in list(self.wrapped):
            with contextlib.suppress(Exception):    # the program is not ours
                if _is_ours(entity.callback):
                    entity.callback = entity.callback.__wrapped__


def complain(text):
    if os.environ.get('KYMO_VERBOSE'):
        print(f'kymo.rclpy_hook: {text}', file=sys.stderr)


def _symbol(callback):
    """The name of a callback: module and qualified name."""
    while isinstance(callback, functools.partial):
        callback = callback.func
    function = getattr(callback, '__func__', callback)
    name = getattr(function, '__qualname__', None) or type(callback).__qualname__
    frame = getattr(function, 'cr_frame', None)     # of a coroutine
    module = frame.f_globals.get('__name__') if frame else getattr(function, '__module__', None)
    return f'{module or "?"}.{name}'.encode()


def _innermost(awaits):
    """What a coroutine waits for at the end of all its awaits, whether a function on the way there sleeps, and the code that
    waits."""
    sleeps = waits = False
    for _ in range(_DEEP):
        code = getattr(awaits, 'cr_code', None) or getattr(awaits, 'gi_code', None)
        sleeps = sleeps or (code is not None and code.co_name.startswith('sleep'))
        waits = code or waits
        frame = getattr(awaits, 'gi_frame', None)
        following = getattr(awaits, 'cr_await', None) or getattr(awaits, 'gi_yieldfrom', None)
        if following is None and frame is not None:
            following = frame.f_locals.get('self')     # of its __await__()
        if isinstance(following, _Steps):
            following = following.coroutine
        if following is None:
            break
        awaits = following
    return awaits, sleeps, waits


def _is_polled(awaits, waits):
    """Does the code `waits` of rclpy's Future wait for this one? It does nothing but yield until the future is done."""
    future = getattr(sys.modules.get('rclpy.task'), 'Future', None)
    return future is not None and isinstance(awaits, future) and waits is future.__await__.__code__


def _waits_for(tracer, awaits, sleeps, yielded):
    """Kind and handle, as in ros2_kymo:callback_await."""
    for future in awaits, yielded:
        with contextlib.suppress(TypeError):    # not every object can be in a dictionary
            if future in tracer.awaited:
                return tracer.awaited[future]
    if sleeps:
        return _SLEEP, None
    kinds = [type(future).__name__ for future in (awaits, yielded)]
    if any('Task' in kind for kind in kinds):
        return _TASK, None
    return (_FUTURE if any('Future' in kind for kind in kinds) else _UNKNOWN), None


class _Steps:
    """Awaits a coroutine; the callback has one run for each time that it gets the thread."""

    def __init__(self, tracer, address, coroutine):
        self._tracer, self._address, self.coroutine = tracer, address, coroutine
        self._number, self._awaits = next(tracer.coroutines), 0
        self._polled = None         # the future that it awaits, if rclpy's executor polls it in each of its rounds

    def _suspend(self, yielded):
        kind, handle, self._polled = _UNKNOWN, None, None
        with contextlib.suppress(Exception):    # the program is not ours
            awaits, sleeps, waits = _innermost(self.coroutine)
            kind, handle = _waits_for(self._tracer, awaits, sleeps, yielded)
            self._polled = awaits if _is_polled(awaits, waits) else None
        self._awaits += 1
        getattr(self._tracer, 'await')(self._address, self._number, self._awaits, kind, handle)

    def _step(self, function, argument):
        if self._awaits:
            self._tracer.resume(self._address, self._number, self._awaits)
        self._tracer.callback_start(self._address, False)
        try:
            yielded = function(argument)
            self._suspend(yielded)
            return yielded
        finally:
            self._tracer.callback_end(self._address)

    def __await__(self):
        function, argument = self.coroutine.send, None
        while True:
            try:
                awaited = self._step(function, argument)
            except StopIteration as stop:
                return stop.value
            try:
                function, argument = self.coroutine.send, (yield awaited)
                while self._polled is not None and not self._polled.done():     # as the code of the future does
                    argument = yield awaited
            except GeneratorExit:
                self.coroutine.close()
                raise
            except BaseException as error:  # it is the callback's, wherever it comes from
                function, argument = self.coroutine.throw, error


def _wrapper(tracer, callback, address=None):
    """A callable like `callback`, with the same signature, and its address for the tracer."""
    start, end = tracer.callback_start, tracer.callback_end
    if inspect.iscoroutinefunction(callback):
        async def call(*args, **kwargs):
            return await _Steps(tracer, address, callback(*args, **kwargs))
    else:
        def call(*args, **kwargs):
            start(address, False)
            try:
                return callback(*args, **kwargs)
            finally:
                end(address)
    address = address or id(call)
    call.of_kymo = True
    # inspect.signature() follows __wrapped__: rclpy looks at how many arguments a callback takes.
    return functools.update_wrapper(call, callback, updated=()), address


def _is_ours(callback):
    return getattr(callback, 'of_kymo', None) is True


def _is_of_rclpy(callback):
    return (getattr(callback, '__module__', None) or '').split('.')[0] == 'rclpy'


# Timers that rclpy makes for itself call nothing: the one that ends a spin_once() with a timeout is in no group.
_SPIN_TIMER, _RATE_TIMER = b'rclpy.executors.Executor.spin_once', b'rclpy.timer.Rate'


def _name_timer(tracer, timer):
    symbol = _SPIN_TIMER if timer.callback_group is None else _RATE_TIMER
    _tell_timer(tracer, timer, id(symbol))
    tracer.rclcpp_callback_register(id(symbol), symbol)


def wrap(tracer, entity, tell):
    """Record the facts of an entity of rclpy, and wrap its callback. An error leaves the entity unchanged."""
    try:
        callback = entity.callback
        if callback is None and tell is _tell_timer:
            _name_timer(tracer, entity)
            return
        if not callable(callback) or _is_ours(callback) or (tell is _tell_nothing and _is_of_rclpy(callback)):
            return
        call, address = _wrapper(tracer, callback)
        tell(tracer, entity, address)
        tracer.rclcpp_callback_register(address, _symbol(callback))
        tracer.wrapped.add(entity)
        entity.callback = call
    except Exception as error:  # the program is not ours
        complain(f'the callback of a {type(entity).__name__} is not recorded: {error}')


def _tell_subscription(tracer, entity, callback):
    tracer.rclcpp_subscription_init(entity.handle.pointer, id(entity))
    tracer.rclcpp_subscription_callback_added(id(entity), callback)


def _tell_timer(tracer, entity, callback):
    tracer.rclcpp_timer_callback_added(entity.handle.pointer, callback)


def _tell_service(tracer, entity, callback):
    tracer.rclcpp_service_callback_added(entity.handle.pointer, callback)


def _tell_nothing(tracer, entity, callback):
    """It has a name, and no handle that other events have."""


def _before(tracer, kind, name, tell):
    """Call @tell before the method @name of the class @kind."""
    original = getattr(kind, name)

    @functools.wraps(original)
    def method(self, *args, **kwargs):
        try:
            tell(tracer, self, *args)
        except Exception as error:  # the program is not ours
            complain(f'{name}: {error}')
        return original(self, *args, **kwargs)
    tracer.set(kind, name, method)


def _after(tracer, kind, name, tell):
    """Call @tell with the result of the method @name, and self and the arguments, when the method has returned."""
    original = getattr(kind, name)

    @functools.wraps(original)
    def method(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        try:
            tell(tracer, result, self, *args)
        except Exception as error:  # the program is not ours
            complain(f'{name}: {error}')
        return result
    tracer.set(kind, name, method)


def _patch_class(name, tell):
    def patch(tracer, module):
        _after(tracer, getattr(module, name), '__init__', lambda _, _result, entity, *args: wrap(tracer, entity, tell))
    return patch


def _known(tracer, future, kind, handle):
    """Who awaits this future waits for that."""
    with contextlib.suppress(TypeError):    # not every object can be in a dictionary
        tracer.awaited[future] = kind, handle


# ---- executors and callback groups ----

def _tell_executor(tracer, executor):
    if executor not in tracer.told:
        tracer.told.add(executor)
        name = re.sub('(?<!^)(?=[A-Z])', '_', type(executor).__name__).lower()
        tracer.executor(id(executor), name.encode())
        weakref.finalize(executor, tracer.gone, b'e', id(executor)).atexit = False


def entities(node):
    """The entities of a node that a callback group has, with their kinds; those of no kind are in no table."""
    for kind, name in (b't', 'timers'), (b's', 'subscriptions'), (b'v', 'services'), (b'c', 'clients'), (None, 'guards'), (
            None, 'waitables'):
        for entity in list(getattr(node, name, ())):
            yield kind, entity


def _tell_group(tracer, executor, group):
    known = tracer.groups.setdefault(executor, weakref.WeakSet())
    if group not in known:
        known.add(group)
        tracer.group(id(executor), id(group), 'Reentrant' in type(group).__name__)
        if group not in tracer.told:
            tracer.told.add(group)
            weakref.finalize(group, tracer.gone, b'g', id(group)).atexit = False


def _tell_groups(tracer, executor, node):
    """The executor has this node, whose groups may be new."""
    _tell_executor(tracer, executor)
    for _, entity in entities(node):
        if entity.callback_group is not None:
            _tell_group(tracer, executor, entity.callback_group)


def tell_node(tracer, node):
    if node.executor is not None:
        _tell_groups(tracer, node.executor, node)


def tell_member(tracer, group, entity):
    kind = {'Timer': b't', 'Subscription': b's', 'Service': b'v', 'Client': b'c'}.get(type(entity).__name__)
    if kind:
        tracer.member(kind, id(group), entity.handle.pointer)


def _task(tracer, callback):
    """What an executor shall run for this task, which is a function or a coroutine; and its address in the trace."""
    its = getattr(callback, 'cr_code', None)
    function = callback
    while not its and isinstance(function, functools.partial):
        function = function.func
    its = its or getattr(getattr(function, '__func__', function), '__code__', type(function))
    if _is_of_rclpy(function) or _is_ours(function) or (id(its) not in tracer.tasks and len(tracer.tasks) >= _TASKS_MAX):
        return callback, None
    if tracer.tasks.setdefault(id(its), its) is its and its not in tracer.named:
        tracer.named.add(its)
        tracer.rclcpp_callback_register(id(its), _symbol(callback))
    if inspect.iscoroutine(callback):
        async def steps():
            return await _Steps(tracer, id(its), callback)
        return steps(), id(its)
    return _wrapper(tracer, callback, id(its))[0], id(its)


_here = threading.local()


def _looks(tracer, *_):
    """The executor looks for work, on this thread."""
    _here.looks = True
    tracer.rclcpp_executor_get_next_ready()


def _worked(tracer, *_):
    """A task has had the thread. Threads of a pool wait for the next one."""
    if not getattr(_here, 'looks', False):
        tracer.rclcpp_executor_wait_for_work(-1)


def _patch_executors(tracer, module):
    executor = module.Executor
    _after(tracer, executor, '__init__', lambda _, _result, its, *args: _tell_executor(tracer, its))
    _after(tracer, executor, 'add_node', lambda _, _result, its, node: _tell_groups(tracer, its, node))
    _before(tracer, executor, 'wait_for_ready_callbacks', _looks)
    _after(tracer, module.Task, '__call__', _worked)
    for kind in 'timer', 'subscription':
        _before(tracer, executor, f'_take_{kind}', lambda _, its, entity: tracer.rclcpp_executor_execute(entity.handle.pointer))
    _before(tracer, module._rclpy.WaitSet, 'wait', lambda _, its, timeout: tracer.rclcpp_executor_wait_for_work(timeout))
    original = executor.create_task

    @functools.wraps(original)
    def create_task(self, callback, *args, **kwargs):
        address = None
        try:
            callback, address = _task(tracer, callback)
        except Exception as error:  # the program is not ours
            complain(f'a task is not recorded: {error}')
        task = original(self, callback, *args, **kwargs)
        if address:
            _known(tracer, task, _TASK, address)
        return task
    tracer.set(executor, 'create_task', create_task)


# ---- nodes and clients ----

def _patch_node(tracer, module):
    _after(tracer, module.Node, 'create_timer', lambda _, timer, node, *args: tracer.rclcpp_timer_link_node(
        timer.handle.pointer, node.handle.pointer))
    _after(tracer, module.Node, '_wake_executor', lambda _, _result, node: tell_node(tracer, node))


def of_client(tracer, callback, client):
    """What is done with a response is the client's callback: its address in the trace is the rcl_client_t."""
    try:
        if _is_of_rclpy(callback) or _is_ours(callback):
            return callback
        if client not in tracer.clients:
            tracer.clients.add(client)
            tracer.rclcpp_callback_register(client, _symbol(callback))
        return _wrapper(tracer, callback, client)[0]
    except Exception as error:  # the program is not ours
        complain(f'what is done with a response is not recorded: {error}')
        return callback


def _watch(tracer, future, client):
    _known(tracer, future, _RESPONSE, client)
    add, alive = type(future).add_done_callback, weakref.ref(future)    # the future does not hold itself
    future.add_done_callback = lambda callback: add(alive(), of_client(tracer, callback, client))


def _patch_client(tracer, module):
    _after(tracer, module.Client, 'call_async', lambda _, future, client, *args: _watch(tracer, future, client.handle.pointer))
    _before(tracer, module.Client, 'destroy', lambda _, client: tracer.clients.discard(client.handle.pointer))


def _patch_action_client(tracer, module):
    for name, kind in ('send_goal_async', _GOAL), ('_get_result_async', _RESULT):
        _after(tracer, module.ActionClient, name, lambda _, future, *args, kind=kind: _known(tracer, future, kind, None))


TELLS = {b's': _tell_subscription, b't': _tell_timer, b'v': _tell_service, None: _tell_nothing}
_MODULES = {
    'rclpy.subscription': _patch_class('Subscription', _tell_subscription),
    'rclpy.timer': _patch_class('Timer', _tell_timer),
    'rclpy.service': _patch_class('Service', _tell_service),
    'rclpy.guard_condition': _patch_class('GuardCondition', _tell_nothing),
    'rclpy.event_handler': _patch_class('EventHandler', _tell_nothing),
    'rclpy.callback_groups': lambda tracer, module: _after(
        tracer, module.CallbackGroup, 'add_entity', lambda _, _result, group, entity: tell_member(tracer, group, entity)),
    'rclpy.client': _patch_client,
    'rclpy.action.client': _patch_action_client,
    'rclpy.executors': _patch_executors,
    'rclpy.node': _patch_node,
}


def _patch(tracer, module):
    if getattr(module, '_kymo_hook', False):
        return
    module._kymo_hook = True
    tracer.undo.append(lambda: delattr(module, '_kymo_hook'))
    try:
        _MODULES[module.__name__](tracer, module)
    except AttributeError as error:
        complain(f'{module.__name__} is not as it was known: {error}')


class _Finder(importlib.abc.MetaPathFinder):
    """Patches the modules of rclpy when they are imported; until then nothing of rclpy is loaded."""

    def __init__(self, tracer):
        self._tracer = tracer

    def find_spec(self, name, path, target=None):
        if name not in _MODULES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and spec.loader:
            tracer, execute = self._tracer, spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _patch(tracer, module)
            spec.loader.exec_module = exec_module
        return spec


def tracer_of(library):
    """The tracer in this library; None: that of the process. Return: None: there is none."""
    try:
        return _Tracer(library)
    except (AttributeError, OSError):
        complain('no tracer in this process: start it with "kymo run -- CMD"')
        return None


def install(tracer=None):
    """Record the callbacks of rclpy. @tracer: None: that of the process."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    tracer = tracer or tracer_of(None)
    if not tracer:
        return
    tracer.gil(True)
    tracer.undo.append(lambda: tracer.gil(False))
    finder = _Finder(tracer)
    for name in _MODULES:
        if name in sys.modules:
            _patch(tracer, sys.modules[name])
    sys.meta_path.insert(0, finder)
    tracer.undo.append(lambda: sys.meta_path.remove(finder))


if __name__ == '__main__':
    import runpy
    if len(sys.argv) < 2:
        sys.exit('Usage: python3 -m kymo.rclpy_hook PROGRAM.py [ARG...]')
    sys.argv.pop(0)
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    install()
    runpy.run_path(sys.argv[0], run_name='__main__')
elif __name__ != 'kymo_rclpy_attached':     # kymo_rclpy_attach.py installs it
    install()
