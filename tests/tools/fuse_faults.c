/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system that is another directory, and whose writes are slow or fail as a file says from
 * moment to moment:
 *
 *   fuse_faults FAULTS DIR MOUNTPOINT
 *
 * FAULTS holds two u32: the number of the error that every write gives (0: none), and how many
 * microseconds each takes. Runs until it is unmounted. Built where libfuse3 is there.
 */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct faults {
	volatile uint32_t error, write_us;
} *faults;
static int root;

/* Relative to the directory. */
static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int result(int rc)
{
	return rc < 0 ? -errno : rc;
}

static int do_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	(void)info;
	return result(fstatat(root, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int do_mkdir(const char *path, mode_t mode)
{
	return result(mkdirat(root, below(path), mode));
}

static int do_unlink(const char *path)
{
	return result(unlinkat(root, below(path), 0));
}

static int do_rmdir(const char *path)
{
	return result(unlinkat(root, below(path), AT_REMOVEDIR));
}

static int do_rename(const char *from, const char *to, unsigned flags)
{
	return flags ? -EINVAL : result(renameat(root, below(from), root, below(to)));
}

static int do_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	int fd = info ? (int)info->fh : openat(root, below(path), O_WRONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = result(ftruncate(fd, size));
	if (!info)
		(void)close(fd);
	return rc;
}

/* The kernel says where to write, also where it appends. */
static int do_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
	int fd = openat(root, below(path), (info->flags & ~O_APPEND) | O_CREAT | O_CLOEXEC, mode);

	if (fd < 0)
		return -errno;
	info->fh = (uint64_t)fd;
	return 0;
}

static int do_open(const char *path, struct fuse_file_info *info)
{
	int fd = openat(root, below(path), (info->flags & ~O_APPEND) | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	info->fh = (uint64_t)fd;
	return 0;
}

static int do_read(const char *path, char *to, size_t size, off_t offset,
		   struct fuse_file_info *info)
{
	(void)path;
	return result((int)pread((int)info->fh, to, size, offset));
}

static int do_write(const char *path, const char *from, size_t size, off_t offset,
		    struct fuse_file_info *info)
{
	(void)path;
	if (faults->write_us)
		(void)usleep(faults->write_us);
	if (faults->error)
		return -(int)faults->error;
	return result((int)pwrite((int)info->fh, from, size, offset));
}

static int do_release(const char *path, struct fuse_file_info *info)
{
	(void)path;
	return result(close((int)info->fh));
}

static int do_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t offset,
		      struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	int fd = openat(root, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	(void)offset;
	(void)info;
	(void)flags;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		(void)fill(to, entry->d_name, NULL, 0, 0);
	(void)closedir(dir);
	return 0;
}

static const struct fuse_operations operations = {
	.getattr = do_getattr,
	.mkdir = do_mkdir,
	.unlink = do_unlink,
	.rmdir = do_rmdir,
	.rename = do_rename,
	.truncate = do_truncate,
	.create = do_create,
	.open = do_open,
	.read = do_read,
	.write = do_write,
	.release = do_release,
	.readdir = do_readdir,
};

int main(int argc, char **argv)
{
	char *arguments[] = { argv[0], "-f", "-s", argc == 4 ? argv[3] : "", NULL };
	int fd;

	if (argc != 4) {
		fprintf(stderr, "usage: fuse_faults FAULTS DIR MOUNTPOINT\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	faults = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *faults, PROT_READ, MAP_SHARED, fd, 0);
	root = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (faults == MAP_FAILED || root < 0) {
		perror("fuse_faults");
		return 1;
	}
	return fuse_main(4, arguments, &operations, NULL);
}
