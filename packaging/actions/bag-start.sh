#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bag-start.sh SECONDS [TOPIC...]: an action for "kymo record --on-incident". Records a bag of what comes after the incident, of all
# topics or of these, into bag/ of the incident. --command-limit must be longer than SECONDS.
set -u
seconds=${1:-20}
[ $# -gt 0 ] && shift
if ! command -v ros2 >/dev/null; then
	echo "there is no ros2 in PATH; source the setup file of ROS 2 before kymo record" >bag-start.txt
	exit 3
fi
[ $# -gt 0 ] || set -- -a
# SIGINT is how ros2 bag record completes its bag.
timeout --signal=INT --kill-after=10 "$seconds" ros2 bag record -o bag "$@" >bag-start.txt 2>&1
status=$?
[ $status -eq 124 ] || exit $status
