#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: plain
# No system call, allocation, lock or page fault in a real-time thread's events; and that the
# harness would notice each.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
export KYMO_DIR=$scratch/run
! sanitized || skip "sanitizers make calls of their own"

recorded() {	# INJECTED
	rm -rf "$scratch/trace"
	"$kymo" record --quiet -o "$scratch/trace" -- "$KYMO_BUILD/tests/rt_check" "$@"
}
noticed() {	# INJECTED TEXT
	for attempt in 1 2 3; do	# the machine may take a page back meanwhile
		run 1 recorded "$1" && grep -q "$2" "$scratch/out" && return
	done
	fail "$1 goes unnoticed: $(cat "$scratch/out")"
}
for clock in counter vdso; do
	export KYMO_CLOCK=$clock
	promised recorded
	[ $? != 77 ] || skip "no seccomp here"
done
unset KYMO_CLOCK
noticed syscall 'system calls: some'
noticed malloc 'allocations: 1,'
noticed lock 'locks: 1,'
noticed fault 'page faults: 1$'
finish
