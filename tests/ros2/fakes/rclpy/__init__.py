# SPDX-License-Identifier: Apache-2.0
"""
As much of rclpy as the hook changes, where the real one is not installed: the classes, their attributes and how executors
call back. What rcl would tell of it is told here, so that the trace has names.
"""
