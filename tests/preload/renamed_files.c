/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD: files that are renamed while a program looks at them. Every few calls with a path in
 * a chunk that is being written (archives/20261120T202357+0000-7) wait until the path is gone, or
 * for a while: so the chunk gets its final name between two looks at it.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CALLS 23 /* no divisor of what one refresh needs */
#define MOMENTS 100
#define WAITS 16 /* then the program must be able to catch up */

/* The final name has a second time. */
static bool is_being_written(const char *path)
{
	const char *chunk = strstr(path, "/archives/"), *first = chunk ? strchr(chunk, 'T') : NULL;

	return first && !memchr(first + 1, 'T', strcspn(first + 1, "/"));
}

static void wait_for_rename(const char *path)
{
	static int (*look)(const char *, int);
	static unsigned calls, waits;
	const struct timespec moment = { .tv_nsec = 2000000 };

	if (waits == WAITS || !is_being_written(path) || ++calls % CALLS)
		return;
	waits++;
	if (!look)
		*(void **)&look = dlsym(RTLD_NEXT, "access");
	for (int i = 0; i < MOMENTS && look(path, F_OK) == 0; i++)
		(void)nanosleep(&moment, NULL);
}

int access(const char *path, int mode)
{
	static int (*next)(const char *, int);
	int rc;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "access");
	rc = next(path, mode);
	wait_for_rename(path);
	return rc;
}

int stat(const char *restrict path, struct stat *restrict st)
{
	static int (*next)(const char *, struct stat *);
	int rc;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "stat");
	rc = next(path, st);
	wait_for_rename(path);
	return rc;
}

int scandir(const char *restrict path, struct dirent ***restrict names,
	    int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	static int (*next)(const char *, struct dirent ***, int (*)(const struct dirent *),
			   int (*)(const struct dirent **, const struct dirent **));
	int rc;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "scandir");
	rc = next(path, names, filter, compare);
	wait_for_rename(path);
	return rc;
}
