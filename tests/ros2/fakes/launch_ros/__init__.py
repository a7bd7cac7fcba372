# SPDX-License-Identifier: Apache-2.0
"""launch_ros, as far as kymo.case uses it."""
