/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD: a program that has no descriptor left now and then. From the first region on that
 * "kymo" opens, some of its open() and fcntl(F_DUPFD) fail with EMFILE, up to 16 in a row, as
 * random numbers from the seed $KYMO_TEST_FILES choose. The accounts do not fail: they say what
 * became of the events.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROW 16
#define ONE_OF 24	/* calls begins a row */

static bool begun;

static bool is_region(const char *path)
{
	const size_t length = strlen(path);

	return length > 7 && strcmp(path + length - 7, ".region") == 0;
}

/* xorshift by Marsaglia */
static unsigned random_below(unsigned limit)
{
	static unsigned state;

	if (!state)
		state = 2463534242u ^ (unsigned)atoi(getenv("KYMO_TEST_FILES")) * 2654435761u;
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % limit;
}

static bool fails(void)
{
	static unsigned left;

	if (!begun || !getenv("KYMO_TEST_FILES") || strcmp(program_invocation_short_name, "kymo") != 0)
		return false;
	if (!left && random_below(ONE_OF) == 0)
		left = 1 + random_below(ROW);
	if (!left)
		return false;
	left--;
	errno = EMFILE;
	return true;
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	static int (*next)(int, const char *, int, ...);

	if (!strstr(path, "kymo.json") && fails())
		return -1;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "openat64");
	begun |= is_region(path);
	return next(dir, path, flags, mode);
}

#define MODE_OF(flags) ({ \
	mode_t mode_ = 0; \
	va_list more_; \
	va_start(more_, flags); \
	if ((flags) & (O_CREAT | O_TMPFILE)) \
		mode_ = va_arg(more_, mode_t); \
	va_end(more_); \
	mode_; \
})

int open(const char *path, int flags, ...);
int open64(const char *path, int flags, ...);
int openat(int dir, const char *path, int flags, ...);
int openat64(int dir, const char *path, int flags, ...);
int fcntl(int fd, int command, ...);
int fcntl64(int fd, int command, ...);

int open(const char *path, int flags, ...)
{
	return open_at(AT_FDCWD, path, flags, MODE_OF(flags));
}

int open64(const char *path, int flags, ...)
{
	return open_at(AT_FDCWD, path, flags, MODE_OF(flags));
}

int openat(int dir, const char *path, int flags, ...)
{
	return open_at(dir, path, flags, MODE_OF(flags));
}

int openat64(int dir, const char *path, int flags, ...)
{
	return open_at(dir, path, flags, MODE_OF(flags));
}

static int control(int fd, int command, void *argument)
{
	static int (*next)(int, int, ...);

	if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && fails())
		return -1;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fcntl64");
	return next(fd, command, argument);
}

#define ARGUMENT_OF(command) ({ \
	va_list more_; \
	va_start(more_, command); \
	void *argument_ = va_arg(more_, void *); \
	va_end(more_); \
	argument_; \
})

int fcntl(int fd, int command, ...)
{
	return control(fd, command, ARGUMENT_OF(command));
}

int fcntl64(int fd, int command, ...)
{
	return control(fd, command, ARGUMENT_OF(command));
}
