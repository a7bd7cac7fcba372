#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kymo run --flight: a program keeps its latest events without a recorder, goes on doing so in its
# children and after exec(), leaves them when it is killed, and makes no system call for them.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
export KYMO_DIR=$scratch/run
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$scratch"' EXIT

cat >"$scratch/flies.c" <<'C'
#include <kymo/kymo.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 1) {		/* after exec() */
		KYMO_INSTANT("flies", "other image");
		printf("ready\n");
		fflush(stdout);
		pause();
	}
	for (int i = 0; i < 200000; i++)
		KYMO_INSTANT("flies", "event", ("i", i));
	if (fork() == 0) {
		KYMO_INSTANT("flies", "child");
		_exit(0);
	}
	wait(NULL);
	return execl(argv[0], argv[0], "again", NULL);
}
C
"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -O1 -I"$KYMO_SOURCE/include" -o "$scratch/flies" "$scratch/flies.c" \
	-L"$KYMO_BUILD/lib" -lkymo -Wl,-rpath,"$KYMO_BUILD/lib" || fail "flies.c does not compile"
mkfifo "$scratch/fifo"
"$kymo" run --flight --ring-size 64K -- "$scratch/flies" >"$scratch/fifo" &
pid=$!
read -r line <"$scratch/fifo"
[ "$line" = ready ] || fail "it says '$line'"

regions() {	# of each: pid, state, mode, flags, whether its first ring went round, dropped
	"$KYMO_BUILD/tests/regions" "$KYMO_DIR"
}
regions >"$scratch/regions"
# The first image: replaced, its ring went round without a drop; the child; the second image.
grep -q "^$pid 3 1 6 1 0$" "$scratch/regions" || fail "first image: $(cat "$scratch/regions")"
grep -q "^$pid 3 1 4 0 0$" "$scratch/regions" || fail "second image: $(cat "$scratch/regions")"
[ "$(grep -v "^$pid " "$scratch/regions" | cut -d' ' -f2-)" = "3 1 4 0 0" ] || fail "child: $(cat "$scratch/regions")"

kill -9 "$pid"
wait "$pid" 2>/dev/null || true
pid=
KYMO_RING_SIZE=64K "$scratch/flies" again >/dev/null &	# registers, and sweeps
pid=$!
swept() {
	[ "$(regions | wc -l)" = 4 ]
}
wait_for swept || regions >&2
regions | grep -q "^$pid 1 0 0 0 0$" || fail "one that does not fly: $(regions)"

# No system call, allocation, lock or page fault in this mode either.
sanitized || promised "$kymo" run --flight -- "$KYMO_BUILD/tests/rt_check"
finish
