#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kymo run --flight: a program keeps its latest events without a recorder, goes on doing so in its
# children and after exec(), leaves them when it is killed, and makes no system call for them.
set -eu
work=$(mktemp -d /dev/shm/kymo-flight-XXXXXX)
export KYMO_DIR=$work/run
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

fail() {
	echo "user_flight.sh: $*" >&2
	exit 1
}

cat >"$work/flies.c" <<'C'
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
"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -O1 -I"$KYMO_SOURCE/include" -o "$work/flies" "$work/flies.c" \
	-L"$KYMO_BUILD/lib" -lkymo -Wl,-rpath,"$KYMO_BUILD/lib"
mkfifo "$work/fifo"
"$KYMO_BUILD/bin/kymo" run --flight --ring-size 64K -- "$work/flies" >"$work/fifo" &
pid=$!
read -r line <"$work/fifo"
[ "$line" = ready ] || fail "it says '$line'"

look() {	# of each region: pid, state, mode, flags but LOCKED, whether its first ring went round, dropped
	python3 - "$KYMO_DIR" <<'P'
import pathlib, struct, sys
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.region")):
    data = path.read_bytes()
    pid, = struct.unpack_from("<I", data, 24)
    flags, = struct.unpack_from("<I", data, 1024 + 32)
    state, _, mode = struct.unpack_from("<III", data, 1024 + 128)
    ring = struct.unpack_from("<I", data, 2 * 4096)[0] * 4096
    wpos, = struct.unpack_from("<Q", data, ring)
    dropped, = struct.unpack_from("<Q", data, ring + 128)
    print(pid, state, mode, flags & 7, int(wpos >> 13 > 65536), dropped)
P
}
look >"$work/regions"
# The first image: replaced, its ring went round without a drop; the child; the second image.
grep -q "^$pid 3 1 6 1 0$" "$work/regions" || fail "first image: $(cat "$work/regions")"
grep -q "^$pid 3 1 4 0 0$" "$work/regions" || fail "second image: $(cat "$work/regions")"
[ "$(grep -v "^$pid " "$work/regions" | cut -d' ' -f2-)" = "3 1 4 0 0" ] || fail "child: $(cat "$work/regions")"

kill -9 "$pid"
wait "$pid" 2>/dev/null || true
pid=
KYMO_RING_SIZE=64K "$work/flies" again >/dev/null &	# registers, and sweeps
pid=$!
for _ in $(seq 100); do
	[ "$(look | wc -l)" = 4 ] && break
	sleep 0.05
done
[ "$(look | wc -l)" = 4 ] || fail "what dead ones left: $(look)"
look | grep -q "^$pid 1 0 0 0 0$" || fail "one that does not fly: $(look)"

# No system call, allocation, lock or page fault in this mode either.
if ! grep -q 'KYMO_SANITIZE:STRING=.' "$KYMO_BUILD/CMakeCache.txt"; then
	for attempt in 1 2 3; do		# the machine may take a page back meanwhile
		status=0
		"$KYMO_BUILD/bin/kymo" run --flight -- "$KYMO_BUILD/tests/rt_check" >"$work/out" 2>&1 || status=$?
		[ $status = 0 ] || [ $status = 77 ] && break
		echo "attempt $attempt: $(cat "$work/out")"
	done
	[ $status = 0 ] || [ $status = 77 ] || fail "rt_check: $(cat "$work/out")"
fi
