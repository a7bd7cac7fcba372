#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No system call, allocation, lock or page fault in a real-time thread's events; and that the
# harness would notice each.
set -eu
check=$KYMO_BUILD/tests/rt_check
work=$(mktemp -d /dev/shm/kymo-rt-XXXXXX)
export KYMO_DIR=$work/run
trap 'rm -rf "$work"' EXIT
grep -q 'KYMO_SANITIZE:STRING=.' "$KYMO_BUILD/CMakeCache.txt" && { echo "skipped: sanitizers make calls of their own"; exit 77; }

fail() {
	echo "realtime.sh: $*: $(cat "$work/out")" >&2
	exit 1
}
run() {	# INJECTED STATUS
	for attempt in 1 2 3; do		# the machine may take a page back meanwhile
		rm -rf "$work/trace"
		status=0
		"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/trace" -- "$check" $1 >"$work/out" 2>&1 || status=$?
		[ $status != "$2" ] || break
	done
	[ $status != 77 ] || { echo "skipped: no seccomp here"; exit 77; }
	[ $status = "$2" ] || fail "with '$1': status $status"
}
for clock in counter vdso; do
	export KYMO_CLOCK=$clock
	run "" 0
	grep -q 'system calls: none, allocations: 0, locks: 0, page faults: 0' "$work/out" || fail "$clock"
done
unset KYMO_CLOCK
run syscall 1
grep -q 'system calls: some' "$work/out" || fail "a system call goes unnoticed"
run malloc 1
grep -q 'allocations: 1' "$work/out" || fail "an allocation goes unnoticed"
run lock 1
grep -q 'locks: 1' "$work/out" || fail "a lock goes unnoticed"
run fault 1
grep -q 'page faults: 1' "$work/out" || fail "a page fault goes unnoticed"
