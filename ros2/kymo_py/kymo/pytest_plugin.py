# SPDX-License-Identifier: Apache-2.0
"""Fixtures for pytest: -p kymo.pytest_plugin; pytest loads them itself if kymo_py is installed."""
import os

import pytest


@pytest.fixture
def kymo_runtime(monkeypatch):
    """A KYMO_DIR of its own, for this test and the programs that it starts."""
    from .testing import private_runtime
    with private_runtime() as path:
        monkeypatch.setenv('KYMO_DIR', path)
        yield path


@pytest.fixture
def kymo_record(tmp_path):
    """kymo_record(command, options=(), ...): kymo.testing.record() into the test's tmp_path."""
    from .testing import record
    count = 0

    def run(command, **kwargs):
        nonlocal count
        count += 1
        kwargs.setdefault('output', os.path.join(tmp_path, f'trace-{count}'))
        return record(command, **kwargs)
    return run
