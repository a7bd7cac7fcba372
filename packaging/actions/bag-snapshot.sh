#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bag-snapshot.sh [SERVICE]: an action for "kymo record --on-incident". Asks a running "ros2 bag record --snapshot-mode" to write
# the messages that it keeps. SERVICE: of that recorder, if its node has another name. The answer is in bag-snapshot.txt.
set -u
service=${1:-/rosbag2_recorder/snapshot}
if ! command -v ros2 >/dev/null; then
	echo "there is no ros2 in PATH; source the setup file of ROS 2 before kymo record" >bag-snapshot.txt
	exit 3
fi
ros2 service call "$service" rosbag2_interfaces/srv/Snapshot '{}' >bag-snapshot.txt 2>&1 || exit 1
grep -q 'success=True' bag-snapshot.txt
