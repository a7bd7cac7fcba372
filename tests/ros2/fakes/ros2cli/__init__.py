# SPDX-License-Identifier: Apache-2.0
"""As much of ros2cli as a command needs, where the real one is not installed."""
