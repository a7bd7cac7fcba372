/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/format/share.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static unsigned shared;			/* of all writers: the limit of descriptors is that of the program */

static bool is_enough(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && shared >= limit.rlim_cur / 5;
}

void ctf_share_begin(struct ctf_share *share, int dir_fd)
{
	if (share->active || is_enough())
		return;
	share->fd = openat(dir_fd, CTF_SYNC_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (share->fd < 0)
		return;
	share->active = ctf_sync_begin(share->fd) == 0;
	if (share->active) {
		shared++;
		return;
	}
	(void)unlinkat(dir_fd, CTF_SYNC_NAME, 0);	/* without a writer it would mean that the trace is complete */
	(void)close(share->fd);
}

/* If a reader holds its lock at this moment, the point is skipped: the next one says more. */
void ctf_share_point(struct ctf_share *share, uint64_t ns, uint64_t streams)
{
	const struct ctf_sync point = { share->points + 1, ns, streams };

	if (share->active && ctf_sync_write(share->fd, &point) == 0)
		share->points++;
}

void ctf_share_end(struct ctf_share *share)
{
	if (!share->active)
		return;
	ctf_share_point(share, UINT64_MAX, 0);
	(void)ctf_lock_ready(share->fd, CTF_LOCK_ALIVE, 1);	/* explicitly: a forked child may have the file open, too */
	(void)close(share->fd);
	share->active = false;
	shared--;
}
