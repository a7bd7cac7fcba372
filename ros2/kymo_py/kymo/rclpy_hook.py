# SPDX-License-Identifier: Apache-2.0
"""
Tells the tracer when callbacks of rclpy run, with the tracepoints of rclcpp.

What rcl and rmw do (nodes, publishers, messages, timers) is recorded of Python programs anyway; their callbacks are not,
since rclpy has no tracepoints. `kymo run` and `kymo record` load this in programs that import rclpy. Other ways, for programs
that got the preload library in another way, or read no PYTHONPATH:

    import kymo.rclpy_hook                         # in the program, before or after `import rclpy`
    python3 -m kymo.rclpy_hook node.py ARG...      # without touching it
    KYMO_RCLPY=1                                   # where kymo_py is installed (its kymo.pth)

Each subscription, timer and service that is made from then on calls its callback through a function that emits
callback_start and callback_end; so does each callback that is added to the future of a client's call. Without the preload library nothing is changed at all.

Context: the calling thread, as rclpy calls back. A pair of events costs two calls through ctypes.
"""
import ctypes
import functools
import importlib.abc
import importlib.machinery
import inspect
import os
import sys

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
}


class _Tracer:
    """The tracetools functions that this process has; PyDLL: they never block, so the interpreter's lock is kept."""

    def __init__(self):
        process = ctypes.PyDLL(None)
        for name, types in _POINTS.items():
            function = getattr(process, 'ros_trace_' + name)
            function.argtypes, function.restype = types, None
            setattr(self, name, function)


def _complain(text):
    if os.environ.get('KYMO_VERBOSE'):
        print(f'kymo.rclpy_hook: {text}', file=sys.stderr)


def _symbol(callback):
    """The name of a callback: module and qualified name."""
    while isinstance(callback, functools.partial):
        callback = callback.func
    function = getattr(callback, '__func__', callback)
    name = getattr(function, '__qualname__', None) or type(callback).__qualname__
    return f'{getattr(function, "__module__", None) or "?"}.{name}'.encode()


class _Steps:
    """Awaits a coroutine; the callback has one run for each time that it gets the thread."""

    def __init__(self, tracer, address, coroutine):
        self._tracer, self._address, self._coroutine = tracer, address, coroutine

    def _step(self, function, argument):
        self._tracer.callback_start(self._address, False)
        try:
            return function(argument)
        finally:
            self._tracer.callback_end(self._address)

    def __await__(self):
        function, argument = self._coroutine.send, None
        while True:
            try:
                awaited = self._step(function, argument)
            except StopIteration as stop:
                return stop.value
            try:
                function, argument = self._coroutine.send, (yield awaited)
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as error:  # it is the callback's, wherever it comes from
                function, argument = self._coroutine.throw, error


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
    # inspect.signature() follows __wrapped__: rclpy looks at how many arguments a callback takes.
    return functools.update_wrapper(call, callback, updated=()), address


def _made(tracer, entity, tell):
    """An entity of rclpy was created: record its facts and wrap its callback. An error leaves the entity unchanged."""
    try:
        if not callable(entity.callback):
            return
        call, address = _wrapper(tracer, entity.callback)
        tell(tracer, entity, entity.handle.pointer, address)
        tracer.rclcpp_callback_register(address, _symbol(entity.callback))
        entity.callback = call
    except Exception as error:  # the program is not ours
        _complain(f'the callback of a {type(entity).__name__} is not recorded: {error}')


def _tell_subscription(tracer, entity, handle, callback):
    tracer.rclcpp_subscription_init(handle, id(entity))
    tracer.rclcpp_subscription_callback_added(id(entity), callback)


def _tell_timer(tracer, entity, handle, callback):
    tracer.rclcpp_timer_callback_added(handle, callback)


def _tell_service(tracer, entity, handle, callback):
    tracer.rclcpp_service_callback_added(handle, callback)


def _patch_class(tracer, module, name, tell):
    kind = getattr(module, name)
    original = kind.__init__

    @functools.wraps(original)
    def made(self, *args, **kwargs):
        original(self, *args, **kwargs)
        _made(tracer, self, tell)
    kind.__init__ = made


def _patch_node(tracer, module):
    original = module.Node.create_timer

    @functools.wraps(original)
    def create_timer(self, *args, **kwargs):
        timer = original(self, *args, **kwargs)
        try:
            tracer.rclcpp_timer_link_node(timer.handle.pointer, self.handle.pointer)
        except Exception as error:  # the program is not ours
            _complain(f'a timer has no node: {error}')
        return timer
    module.Node.create_timer = create_timer


def _is_of_rclpy(callback):
    return (getattr(callback, '__module__', None) or '').split('.')[0] == 'rclpy'


def _watch(tracer, future, client):
    """What is done with the response is the client's callback: its address in the trace is the rcl_client_t."""
    add = future.add_done_callback

    def add_done_callback(callback):
        return add(callback if _is_of_rclpy(callback) else _wrapper(tracer, callback, client)[0])
    future.add_done_callback = add_done_callback


def _patch_client(tracer, module):
    original = module.Client.call_async

    @functools.wraps(original)
    def call_async(self, *args, **kwargs):
        future = original(self, *args, **kwargs)
        try:
            _watch(tracer, future, self.handle.pointer)
        except Exception as error:  # the program is not ours
            _complain(f'what is done with a response is not recorded: {error}')
        return future
    module.Client.call_async = call_async


_MODULES = {
    'rclpy.subscription': lambda tracer, module: _patch_class(tracer, module, 'Subscription', _tell_subscription),
    'rclpy.timer': lambda tracer, module: _patch_class(tracer, module, 'Timer', _tell_timer),
    'rclpy.service': lambda tracer, module: _patch_class(tracer, module, 'Service', _tell_service),
    'rclpy.client': _patch_client,
    'rclpy.node': _patch_node,
}


def _patch(tracer, module):
    if getattr(module, '_kymo_hook', False):
        return
    module._kymo_hook = True
    try:
        _MODULES[module.__name__](tracer, module)
    except AttributeError as error:
        _complain(f'{module.__name__} is not as it was known: {error}')


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


def install():
    """Record the callbacks of rclpy. Return: whether this process has a tracer."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return True
    try:
        tracer = _Tracer()
    except AttributeError:
        _complain('no tracer in this process: start it with "kymo run -- CMD"')
        return False
    for name in _MODULES:
        if name in sys.modules:
            _patch(tracer, sys.modules[name])
    sys.meta_path.insert(0, _Finder(tracer))
    return True


if __name__ == '__main__':
    import runpy
    if len(sys.argv) < 2:
        sys.exit('Usage: python3 -m kymo.rclpy_hook PROGRAM.py [ARG...]')
    sys.argv.pop(0)
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    install()
    runpy.run_path(sys.argv[0], run_name='__main__')
else:
    install()
