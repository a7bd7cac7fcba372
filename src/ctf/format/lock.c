/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/format/lock.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"

struct sync_bytes {			/* of the file */
	uint32_t magic, version;
	uint64_t number, time, streams;
};
_Static_assert(sizeof(struct sync_bytes) == CTF_SYNC_BYTES, "as drawn in lock.h");

static int lock(int fd, int command, short type, uint64_t from, uint64_t size)
{
	struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)from };

	if (from > INT64_MAX || (size != CTF_LOCK_REST && size > (uint64_t)INT64_MAX - from))
		return -EINVAL;
	range.l_len = size == CTF_LOCK_REST ? 0 : (off_t)size;	/* 0: to the end of all files */
	if (size == 0)
		return 0;
	if (fcntl(fd, command, &range) < 0)
		return -errno;
	return command == F_OFD_GETLK && range.l_type != F_UNLCK;
}

int ctf_lock_all(int fd, uint64_t from)
{
	return lock(fd, F_OFD_SETLK, F_WRLCK, from, CTF_LOCK_REST);
}

int ctf_lock_ready(int fd, uint64_t from, uint64_t size)
{
	return lock(fd, F_OFD_SETLK, F_UNLCK, from, size);
}

int ctf_lock_test(int fd, uint64_t from, uint64_t size)
{
	const int locked = lock(fd, F_OFD_GETLK, F_RDLCK, from, size);

	return locked < 0 ? locked : !locked;
}

int64_t ctf_lock_end(int fd, uint64_t from)
{
	int64_t end = INT64_MAX;

	if (from > INT64_MAX)
		return -EINVAL;
	/* F_OFD_GETLK returns any conflicting lock, not the first one: ask again for the range
	 * before it. */
	while (end > (int64_t)from) {
		struct flock range = { .l_type = F_RDLCK,
				       .l_whence = SEEK_SET,
				       .l_start = (off_t)from };

		range.l_len = end == INT64_MAX ? 0 : (off_t)(end - (int64_t)from);
		if (fcntl(fd, F_OFD_GETLK, &range) < 0)
			return -errno;
		if (range.l_type == F_UNLCK)
			break;
		end = range.l_start;
	}
	return end;
}

int ctf_lock_wait(int fd, uint64_t from, uint64_t size)
{
	const int rc = lock(fd, F_OFD_SETLKW, F_RDLCK, from, size);

	if (rc == 0)
		(void)lock(fd, F_OFD_SETLK, F_UNLCK, from, size);
	return rc;
}

/* ---- index/sync ---- */

static int write_point(int fd, const struct ctf_sync *sync)
{
	const struct sync_bytes bytes = {
		htobe32(CTF_SYNC_MAGIC), htobe32(CTF_SYNC_VERSION), htobe64(sync->number),
		htobe64(sync->time),     htobe64(sync->streams),
	};

	return pwrite_all(fd, &bytes, sizeof(bytes), 0);
}

int ctf_sync_begin(int fd)
{
	const int rc = lock(fd, F_OFD_SETLK, F_WRLCK, CTF_LOCK_ALIVE, 1);

	return rc < 0 ? rc : ctf_sync_write(fd, &(struct ctf_sync){ 0 });
}

int ctf_sync_write(int fd, const struct ctf_sync *sync)
{
	/* A reader locks the 32 bytes while it reads them. Then this point is skipped; the next one
	 * says more. */
	int rc = lock(fd, F_OFD_SETLK, F_WRLCK, 0, CTF_SYNC_BYTES);

	if (rc < 0)
		return rc;
	rc = write_point(fd, sync);
	(void)lock(fd, F_OFD_SETLK, F_UNLCK, 0, CTF_SYNC_BYTES);
	return rc;
}

int ctf_sync_alive(int fd)
{
	return lock(fd, F_OFD_GETLK, F_RDLCK, CTF_LOCK_ALIVE, 1);
}

int ctf_sync_read(int fd, struct ctf_sync *sync)
{
	struct sync_bytes bytes;
	ssize_t got;
	int rc = lock(fd, F_OFD_SETLKW, F_RDLCK, 0, CTF_SYNC_BYTES);

	if (rc < 0)
		return rc;
	got = pread(fd, &bytes, sizeof(bytes), 0);
	rc = got < 0 ? -errno : 0;
	(void)lock(fd, F_OFD_SETLK, F_UNLCK, 0, CTF_SYNC_BYTES);
	if (rc < 0)
		return rc;
	if (got != sizeof(bytes) || be32toh(bytes.magic) != CTF_SYNC_MAGIC ||
	    be32toh(bytes.version) != CTF_SYNC_VERSION)
		return -EINVAL;
	*sync = (struct ctf_sync){
		be64toh(bytes.number), be64toh(bytes.time), be64toh(bytes.streams),
	};
	return 0;
}

/* ---- the writer of a trace ---- */

static unsigned shared; /* of all writers: the limit of descriptors is that of the program */

static bool is_enough(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && shared >= limit.rlim_cur / 5;
}

static int lock_metadata(int dir_fd, uint64_t length)
{
	const int fd =
		is_enough() ? -1 : openat(dir_fd, "metadata", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && !fds_exceed(fd, 4) && ctf_lock_all(fd, length) == 0) {
		shared++;
		return fd;
	}
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

void ctf_share_begin(struct ctf_share *share, int dir_fd, uint64_t metadata)
{
	if (share->active || is_enough())
		return;
	share->fd = openat(dir_fd, CTF_SYNC_NAME,
			   O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (share->fd < 0)
		return;
	share->active = !fds_exceed(share->fd, 4) && ctf_sync_begin(share->fd) == 0;
	if (share->active) {
		shared++;
		share->metadata = lock_metadata(dir_fd, metadata);
		return;
	}
	(void)unlinkat(dir_fd, CTF_SYNC_NAME,
		       0); /* without a writer it would mean that the trace is complete */
	(void)close(share->fd);
}

/* If a reader holds its lock at this moment, the point is skipped: the next one says more. */
void ctf_share_point(struct ctf_share *share, uint64_t ns, uint64_t streams)
{
	const struct ctf_sync point = {share->points + 1, ns, streams};

	if (share->active && ctf_sync_write(share->fd, &point) == 0)
		share->points++;
}

void ctf_share_end(struct ctf_share *share)
{
	if (!share->active)
		return;
	if (share->metadata >= 0) {
		(void)ctf_lock_ready(share->metadata, 0, CTF_LOCK_REST);
		(void)close(share->metadata);
		shared--;
	}
	ctf_share_point(share, UINT64_MAX, 0);
	(void)ctf_lock_ready(share->fd, CTF_LOCK_ALIVE,
			     1); /* explicitly: a forked child may have the file open, too */
	(void)close(share->fd);
	share->active = false;
	shared--;
}
