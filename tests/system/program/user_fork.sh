#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process forks while another of its threads switches categories: every child is recorded, with the
# declarations of its parent, and so is the parent afterwards. Of children whose threads emit at once every
# event is recorded or counted; one that outlives its parent is recorded as well.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
set -e
work=$scratch
export KYMO_DIR=$work/run
recorder='' daemon=''
trap 'for pid in $recorder $daemon; do kill "$pid" 2>/dev/null || true; done; rm -rf "$work"' EXIT

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

# Threads that emit all at once as the first thing in a child, while its locks are busy.
cat >"$work/crowd.c" <<'C'
#include <kymo/kymo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t begin;
static volatile sig_atomic_t done;
static void *switcher(void *nothing)
{
	while (!done)
		kymo_set_category("other", true);
	return nothing;
}
static void *emitter(void *nothing)
{
	pthread_barrier_wait(&begin);
	for (int i = 0; i < 100; i++)
		KYMO_INSTANT("crowd", "tick", ("i", i));
	return nothing;
}
static int child(void)
{
	pthread_t emit[8], other;

	if (pthread_barrier_init(&begin, NULL, 8) || pthread_create(&other, NULL, switcher, NULL))
		return 1;
	for (int i = 0; i < 8; i++)
		if (pthread_create(&emit[i], NULL, emitter, NULL))
			return 1;
	for (int i = 0; i < 8; i++)
		pthread_join(emit[i], NULL);
	done = 1;
	return pthread_join(other, NULL);
}
int main(void)
{
	int status;

	for (int i = 0; i < 10; i++) {
		const pid_t pid = fork();

		if (!pid)
			_exit(child());
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
C

# Its parent is gone before anybody records; emits until told to end.
cat >"$work/daemon.c" <<'C'
#include <kymo/kymo.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	const pid_t child = fork();

	if (child) {
		printf("%d\n", child);
		return child < 0;
	}
	fclose(stdout);
	for (;; usleep(1000))
		KYMO_INSTANT("daemon", "tick");
}
C
for program in forks crowd daemon; do
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -O1 -I"$KYMO_SOURCE/include" -o "$work/$program" "$work/$program.c" \
		-L"$KYMO_BUILD/lib" -lkymo -Wl,-rpath,"$KYMO_BUILD/lib" -pthread
done

"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/trace" -- "$work/forks" 2>"$work/err" || die "$(cat "$work/err")"
babeltrace2 "$work/trace" >"$work/text" 2>"$work/warnings" || die "$(cat "$work/warnings")"
for event in before child after 'must not be there'; do
	case $event in
	child) expected=20 ;;
	must*) expected=0 ;;
	*) expected=1 ;;
	esac
	count=$(grep -c "forks:$event: " "$work/text" || true)
	[ "$count" = "$expected" ] || die "$count times instead of $expected: $event"
done

"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/crowd.trace" -- "$work/crowd" 2>"$work/err" || die "$(cat "$work/err")"
/usr/bin/python3 - "$work/crowd.trace/kymo.json" <<'PY' || die "of a crowd of new threads events are missing"
import json, sys
totals = json.load(open(sys.argv[1]))["totals"]
sys.exit(totals["recorded"] + totals["dropped"] != 10 * 8 * 100)
PY

daemon=$("$work/daemon")
"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/daemon.trace" -p "$daemon" 2>"$work/err" &
recorder=$!
recorded() {	# what the daemon emits is written
	"$KYMO_BUILD/bin/kymo" status --format json 2>/dev/null | python3 -c 'import json, sys
sys.exit(not any(p["pid"] == int(sys.argv[1]) and p["recorded"] for p in json.load(sys.stdin)["processes"]))' "$daemon"
}
wait_for recorded || die "the daemon is not recorded: $(cat "$work/err")"
kill -INT "$recorder"
wait "$recorder" || die "$(cat "$work/err")"
recorder=
babeltrace2 "$work/daemon.trace" | grep -q "daemon:tick" || die "a process whose parent has ended is not recorded"
