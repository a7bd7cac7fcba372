/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/runtime/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "abi/region.h"

#define CLAIMED_MAX 4096		/* a forked child keeps the locks of files beyond these */

/* Descriptor + 1; 0: free. A forked child may read it in the middle of any change. */
static int claimed[CLAIMED_MAX];

static struct flock one_byte(short type, off_t at)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };
}

static int *find(int value)
{
	for (unsigned i = 0; i < CLAIMED_MAX; i++)
		if (__atomic_load_n(&claimed[i], __ATOMIC_RELAXED) == value)
			return &claimed[i];
	return NULL;
}

static void unregister(int fd)
{
	int *entry = find(fd + 1);

	if (entry)
		__atomic_store_n(entry, 0, __ATOMIC_SEQ_CST);
}

int claim(int fd)
{
	struct flock lock = one_byte(F_WRLCK, KYMO_LOCK_CLAIM);
	int *entry = find(0), error;

	/* Entered first: a child that is forked in between then closes the file although it is not
	 * locked yet, which harms nothing. */
	if (entry)
		__atomic_store_n(entry, fd + 1, __ATOMIC_SEQ_CST);
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	error = errno == EACCES ? EAGAIN : errno;
	unregister(fd);
	return -error;
}

void claim_release(int fd)
{
	struct flock lock = one_byte(F_UNLCK, KYMO_LOCK_CLAIM);

	if (fd < 0 || !find(fd + 1))
		return;
	(void)fcntl(fd, F_OFD_SETLK,
		    &lock); /* explicitly: children that have the file open would keep the lock */
	unregister(fd);
}

bool claim_is_taken(int fd)
{
	struct flock lock = one_byte(F_WRLCK, KYMO_LOCK_CLAIM);

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool claim_is_let_go(int fd)
{
	struct flock lock = one_byte(F_WRLCK, KYMO_LOCK_ALIVE);

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

/* In a forked child: only close() is safe, whatever the parent was doing. */
static void close_all(void)
{
	for (unsigned i = 0; i < CLAIMED_MAX; i++) {
		int fd = __atomic_load_n(&claimed[i], __ATOMIC_RELAXED) - 1;

		if (fd >= 0)
			(void)close(fd);
		claimed[i] = 0;
	}
}

void claim_forget_in_children(void)
{
	(void)pthread_atfork(NULL, NULL, close_all); /* without memory, children keep the locks */
}
