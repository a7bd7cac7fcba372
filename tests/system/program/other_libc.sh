#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: plain
# Programs behave as without kymo: with musl, for 32 bits, with a malloc of their own (jemalloc, tcmalloc, mimalloc), with a
# clock of their own, with parts of kymo that are of different versions.
. "$(dirname "$0")/../lib/libtest.sh"

export KYMO_DIR=$scratch/runtime
unset LD_PRELOAD KYMO_PRELOAD
cd "$scratch" || exit 1

cat >program.c <<'END'
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls the whole family, and ends at once if a block is not as it must be. */
static void *allocate(void *argument)
{
	char *block[64] = { 0 };
	unsigned seed = (unsigned)(size_t)argument * 7919 + 1;

	for (int i = 0; i < 3000; i++) {
		char **at = &block[(seed = seed * 1103515245 + 12345) >> 16 & 63];
		const size_t size = (seed >> 8) % 5000 + 1;
		void *aligned = NULL;

		if (seed % 5 == 0) {
			*at = realloc(*at, size);
		} else {
			free(*at);
			if (seed % 7 == 0 && posix_memalign(&aligned, 64, size))
				abort();
			*at = aligned ? aligned : seed % 11 ? malloc(size) : calloc(size, 1);
		}
		if (!*at || malloc_usable_size(*at) < size || (size_t)aligned % 64)
			abort();
		memset(*at, 1, size);
	}
	for (int i = 0; i < 64; i++)
		free(block[i]);
	return argument;
}

int main(void)
{
	pthread_t thread[4];
	int status = 1;

	for (size_t i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, allocate, (void *)i))
			return 1;
	if (!fork()) {
		allocate(NULL);
		_exit(0);
	}
	wait(&status);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("done %d\n", status);
	return 5;
}
END

# same_as_without WORD...: run by kymo, the program prints what it prints alone; its last line is on stdout, what was said in err
same_as_without() {
	run 5 "$@"
	same "its output" "done 0" "$(cat "$scratch/out")"
}

if musl-gcc -O1 -o musl program.c 2>/dev/null; then
	for verb in "run" "record -q -o trace1" "record -q --malloc -o trace2" "record -q --functions -o trace3"; do
		same_as_without "$kymo" $verb -- ./musl
		has err "kymo ${verb%% *}: this command cannot be recorded, and runs without kymo's library: its loader"
		# Nobody can know what a shell starts: the libraries are loaded, and stay inert.
		same_as_without "$kymo" $verb -- sh -c "./musl; exit \$?"
		! grep -q relocating "$scratch/err" || fail "the libraries cannot be loaded: $(cat "$scratch/err")"
	done
else
	echo "skipped in part: programs of musl (no musl-gcc)"
fi

if gcc -m32 -O1 -o narrow program.c -lpthread 2>/dev/null; then
	for verb in "run" "record -q -o trace4"; do
		same_as_without "$kymo" $verb -- ./narrow
		has err "kymo ${verb%% *}: this command cannot be recorded, and runs without kymo's library: it is a 32-bit program for i386"
		! grep -q "ld.so" "$scratch/err" || fail "its loader met the library: $(cat "$scratch/err")"
		same_as_without "$kymo" $verb -- sh -c "./narrow; exit \$?"
	done
else
	echo "skipped in part: 32-bit programs (gcc -m32 has no libc)"
fi

for name in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do
	if ! gcc -O1 -o own program.c -Wl,--no-as-needed "-l:lib$name" -lpthread 2>/dev/null; then
		echo "skipped in part: programs with ${name%%.*} (not installed)"
		continue
	fi
	same_as_without "$kymo" record -q --malloc -o "$name" -- ./own
	recorded=$("$kymo" dump "$name" | grep -c 'lttng_ust_libc:')
	[ "$recorded" -gt 15000 ] || fail "$name: only $recorded calls of malloc and its family are recorded"
done

# A clock_gettime() of the program's own, as of faketime(1): an hour ago. The events are those of the recorder's time.
gcc -shared -fPIC -o hour_ago.so -x c - <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
	const long status = syscall(SYS_clock_gettime, clock, now);

	now->tv_sec -= 3600;
	return (int)status;
}
END
before=$(date +%s)
for clock in counter vdso; do
	run 0 env "KYMO_CLOCK=$clock" "$kymo" record -o "faked-$clock" -- sh -c 'export LD_PRELOAD="$LD_PRELOAD:$0/hour_ago.so"; exec "$@"' \
		"$scratch" "$KYMO_BUILD/tests/numbers" --threads 2 --rate 2000 --seconds 0.2 "$scratch/counts"
	has err " 0 dropped"
	! grep -q corrupt "$scratch/err" || fail "its times make no sense to the recorder: $(cat "$scratch/err")"
	begin=$("$kymo" info "faked-$clock" | sed -n 's/^Begin: //p')
	[ "$(date -d "$begin" +%s)" -ge $((before - 60)) ] || fail "$clock: the trace begins at $begin, in the program's time"
done

# A library with inlined code meets a libkymo of another version.
cat >stranger.c <<'END'
#include <kymo/kymo.h>
void kymo__guest_begins(unsigned layout);
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		kymo__guest_begins(0);
	KYMO_INSTANT("test", "event");
	return 0;
}
END
gcc -I"$KYMO_SOURCE/include" -o stranger stranger.c -L"$KYMO_BUILD/lib" -lkymo -Wl,-rpath,"$KYMO_BUILD/lib" || fail "cannot compile it"
run 0 "$kymo" record -q -o same -- ./stranger
KYMO_VERBOSE=1 run 6 "$kymo" record -q -o other -- ./stranger 0
has err "its libkymo.so is of another version"
finish
