/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open files of all writers. There are more streams than descriptors, so a stream keeps its
 * file open only until another one needs the descriptor.
 */
#include "ctf/write/writer_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"

/* Streams with a descriptor, of all writers: descriptors are the program's. */
static struct {
	struct ctf_out *out[CTF_WRITER_OPEN_MAX];
	unsigned count;
	unsigned indexes; /* that hold a descriptor, too; only of streams in @out */
} opened;

static void index_shut(struct ctf_out *out)
{
	opened.indexes -= out->index.held > 0;
	ctf_index_let_go(&out->index);
}

void out_shut(struct ctf_out *out)
{
	if (out->fd < 0)
		return;
	index_shut(out);
	opened.out[out->place] = opened.out[--opened.count];
	opened.out[out->place]->place = out->place;
	if (out->writer->share.active)
		(void)ctf_lock_ready(
			out->fd, 0,
			CTF_LOCK_REST); /* a child that was forked may have it open, too */
	(void)close(out->fd);
	out->fd = -1;
}

/*
 * A random one (xorshift by Marsaglia). Streams are written in turn, so with too many of them, the
 * least recently used one is exactly the one that is needed next.
 */
static unsigned random_place(void)
{
	static uint32_t random = 2463534242u;

	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	return random % opened.count;
}

/* Indexes give their descriptors first: without one, an index is locked only while it is written.
 */
static void shut_one(void)
{
	unsigned at = random_place();

	if (!opened.indexes) {
		out_shut(opened.out[at]);
		return;
	}
	while (!opened.out[at]->index.held)
		at = (at + 1) % opened.count;
	index_shut(opened.out[at]);
}

/* A small limit leaves descriptors for others: regions, accounts, /proc. */
static unsigned open_max(void)
{
	static unsigned most;
	struct rlimit limit;

	if (most)
		return most;
	most = CTF_WRITER_OPEN_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 5 < most)
		most = limit.rlim_cur < 5 ? 1 : (unsigned)(limit.rlim_cur / 5);
	return most;
}

bool writer_frees_descriptor(void)
{
	if (errno != EMFILE || !opened.count)
		return false;
	shut_one();
	return true;
}

int out_open(struct ctf_out *out)
{
	int flags =
		O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (out->made ? 0 : O_CREAT | O_EXCL);

	if (out->fd >= 0)
		return 0;
	while (opened.count && opened.count + opened.indexes >= open_max())
		shut_one();
	while ((out->fd = openat(out->writer->dir_fd, out->name, flags, 0644)) < 0)
		if (!writer_frees_descriptor())
			return -errno;
	if (opened.count && fds_exceed(out->fd, 7))
		shut_one();
	if (out->writer->share.active)
		(void)ctf_lock_all(out->fd, out->length);
	out->made = true;
	out->place = opened.count;
	opened.out[opened.count++] = out;
	return 0;
}

int out_index(struct ctf_out *out, const struct ctf_index_entry *entry)
{
	const bool held = out->index.held > 0;
	int wrote = 0;

	out->index.hold = held || (out->writer->share.active && out->fd >= 0 &&
				   opened.count + opened.indexes < open_max());
	if (entry)
		ctf_index_add(&out->index, out->writer->dir_fd, out->name, entry);
	else
		wrote = ctf_index_flush(&out->index, out->writer->dir_fd, out->name);
	opened.indexes += (out->index.held > 0) - held;
	if (!held && out->index.held && fds_exceed(out->index.held - 1, 7))
		index_shut(out);
	return wrote;
}
