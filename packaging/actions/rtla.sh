#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rtla.sh [SECONDS]: an action for "kymo record --on-incident". Measures with rtla how late timers of this machine are now, and which
# interrupts and threads delay them, into rtla.txt of the incident. It needs root, and the kernel's tracer timerlat.
set -u
if ! command -v rtla >/dev/null; then
	echo "there is no rtla in PATH; install the one of your kernel" >rtla.txt
	exit 3
fi
rtla timerlat top -q -d "${1:-10}s" >rtla.txt 2>&1
