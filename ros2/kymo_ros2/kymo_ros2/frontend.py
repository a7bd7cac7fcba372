# SPDX-License-Identifier: Apache-2.0
"""What launch loads for XML and YAML files: <kymo .../>. Only for that, so that `ros2 kymo` needs no launch."""
from .action import Trace

__all__ = ['Trace']
