# SPDX-License-Identifier: Apache-2.0
"""kymo in launch files, and behind `ros2`."""
