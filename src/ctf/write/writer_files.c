/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open files of all writers. There are more streams and directories than descriptors, so each
 * stays open only until another one needs the descriptor.
 */
#include "ctf/write/writer_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

/* What has a descriptor, of all writers: descriptors are the program's. */
static struct {
	struct ctf_out *out[CTF_WRITER_OPEN_MAX];
	unsigned count;
	unsigned indexes; /* that hold a descriptor, too; only of streams in @out */
	struct ctf_writer *dir[CTF_WRITER_OPEN_MAX];
	unsigned dirs;
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
static unsigned random_below(unsigned limit)
{
	static uint32_t random = 2463534242u;

	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	return random % limit;
}

/* Indexes give their descriptors first: without one, an index is locked only while it is written.
 */
static void shut_one(void)
{
	unsigned at = random_below(opened.count);

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

/* ---- directories ---- */

void writer_shut_dir(struct ctf_writer *writer)
{
	if (writer->dir_fd < 0)
		return;
	opened.dir[writer->place] = opened.dir[--opened.dirs];
	opened.dir[writer->place]->place = writer->place;
	(void)close(writer->dir_fd);
	writer->dir_fd = -1;
}

/* Return: false: there is none but that of @writer. */
static bool shut_another_dir(const struct ctf_writer *writer)
{
	unsigned at = opened.dirs ? random_below(opened.dirs) : 0;

	if (opened.dirs && opened.dir[at] == writer)
		at = (at + 1) % opened.dirs;
	if (!opened.dirs || opened.dir[at] == writer)
		return false;
	writer_shut_dir(opened.dir[at]);
	return true;
}

bool writer_frees_descriptor(const struct ctf_writer *writer)
{
	if (errno != EMFILE)
		return false;
	if (!opened.indexes && shut_another_dir(writer))
		return true;
	if (!opened.count)
		return false;
	shut_one();
	return true;
}

static int check_dir(struct ctf_writer *writer, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (writer->dir_ino && (writer->dir_ino != st.st_ino || writer->dir_dev != st.st_dev))
		return -ENOENT;
	writer->dir_ino = st.st_ino;
	writer->dir_dev = st.st_dev;
	return 0;
}

int writer_dir(struct ctf_writer *writer)
{
	int fd, rc;

	if (writer->dir_fd >= 0)
		return writer->dir_fd;
	while ((fd = open(writer->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		if (!writer_frees_descriptor(NULL))
			return -errno;
	rc = check_dir(writer, fd);
	if (rc < 0) {
		(void)close(fd);
		return rc;
	}
	while (opened.dirs >= open_max())
		(void)shut_another_dir(NULL);
	writer->dir_fd = fd;
	writer->place = opened.dirs;
	opened.dir[opened.dirs++] = writer;
	while (fds_exceed(fd, 4) && shut_another_dir(writer))
		;
	return fd;
}

bool ctf_writer_yield(void)
{
	if (opened.count + opened.indexes + opened.dirs <= open_max() / 2)
		return false;
	errno = EMFILE;
	return writer_frees_descriptor(NULL);
}

/* ---- streams and indexes ---- */

int out_open(struct ctf_out *out)
{
	int flags =
		O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (out->made ? 0 : O_CREAT | O_EXCL);
	int dir;

	if (out->fd >= 0)
		return 0;
	dir = writer_dir(out->writer);
	if (dir < 0)
		return dir;
	while (opened.count && opened.count + opened.indexes >= open_max())
		shut_one();
	while ((out->fd = openat(dir, out->name, flags, 0644)) < 0)
		if (!writer_frees_descriptor(out->writer))
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
	const unsigned pending = out->index.pending_count;
	const bool writes = entry ? pending + 1 >= CTF_INDEX_PENDING : pending > 0;
	const int dir = writes && !held ? writer_dir(out->writer) : out->writer->dir_fd;
	int wrote = 0;

	out->index.hold = held || (out->writer->share.active && out->fd >= 0 &&
				   opened.count + opened.indexes < open_max());
	if (entry)
		ctf_index_add(&out->index, dir, out->name, entry);
	else
		wrote = ctf_index_flush(&out->index, dir, out->name);
	opened.indexes += (out->index.held > 0) - held;
	if (!held && out->index.held && fds_exceed(out->index.held - 1, 7))
		index_shut(out);
	return wrote;
}
