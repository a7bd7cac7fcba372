#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process forks while another of its threads switches categories: every child is recorded, with the
# declarations of its parent, and so is the parent afterwards.
set -eu
work=$(mktemp -d /dev/shm/kymo-fork-XXXXXX)
export KYMO_DIR=$work/run
trap 'rm -rf "$work"' EXIT

fail() {
	echo "user_fork.sh: $*" >&2
	exit 1
}

cat >"$work/forks.c" <<'C'
#include <kymo/kymo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t done;
static void *switcher(void *nothing)
{
	while (!done)
		kymo_set_category("other", true);
	return nothing;
}
int main(void)
{
	pthread_t thread;

	KYMO_INSTANT("forks", "before");
	if (pthread_create(&thread, NULL, switcher, NULL))
		return 1;
	for (int i = 0; i < 20; i++) {
		const pid_t child = fork();

		if (!child) {
			KYMO_INSTANT("forks", "child", ("i", i));
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	done = 1;
	pthread_join(thread, NULL);
	kymo_set_category("forks", false);
	KYMO_INSTANT("forks", "must not be there");
	kymo_set_category("forks", true);
	KYMO_INSTANT("forks", "after");
	return 0;
}
C
"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -O1 -I"$KYMO_SOURCE/include" -o "$work/forks" "$work/forks.c" \
	-L"$KYMO_BUILD/lib" -lkymo -Wl,-rpath,"$KYMO_BUILD/lib" -pthread
"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/trace" -- "$work/forks" 2>"$work/err" || fail "$(cat "$work/err")"
babeltrace2 "$work/trace" >"$work/text" 2>"$work/warnings" || fail "$(cat "$work/warnings")"
for event in before child after 'must not be there'; do
	case $event in
	child) expected=20 ;;
	must*) expected=0 ;;
	*) expected=1 ;;
	esac
	count=$(grep -c "forks:$event: " "$work/text" || true)
	[ "$count" = "$expected" ] || fail "$count times instead of $expected: $event"
done
