#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh FILE -- a file of tests of ros2/; skipped (77) where there is no pytest, or where it skips all of them.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
export PYTHONDONTWRITEBYTECODE=1
"$python" -c 'import pytest' 2>/dev/null || { echo "skipped: pytest is not here"; exit 77; }
log=$(mktemp) || exit 1
"$python" -m pytest -q -rs -p no:cacheprovider "$1" >"$log" 2>&1
status=$?
cat "$log"
[ "$status" -eq 0 ] && ! grep -q '[0-9] passed' "$log" && status=77
rm -f "$log"
exit "$status"
