/* SPDX-License-Identifier: Apache-2.0 */
/* Writes tar archives: a header of 512 bytes before each file, and each file padded to a multiple
 * of 512. */
#include "export/archive/tar.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/io.h"

#define BLOCK 512

struct header {
	char name[TAR_NAME_MAX];
	char mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
	char type;
	char link[100], magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155];
	char unused[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static const char zeros[2 * BLOCK];

static int put_bytes(const struct tar *tar, const void *data, size_t size, struct kymo_err *err)
{
	const int rc = write_all(tar->fd, data, size);

	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot write the archive: %s", strerror(-rc)) : 0;
}

static int seek_to(const struct tar *tar, off_t to, struct kymo_err *err)
{
	if (lseek(tar->fd, to, SEEK_SET) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot go back in the archive: %s", strerror(errno));
	return 0;
}

/* Octal digits and a NUL. */
static void put_number(char *field, size_t size, int64_t value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%0*" PRIo64, (int)size - 1, value);
	memcpy(field, digits, size);
}

/* The checksum is the sum of all bytes, taken with spaces in its place. */
static void seal(struct header *header)
{
	const unsigned char *byte = (const unsigned char *)header;
	unsigned sum = 0;

	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += byte[i];
	put_number(header->checksum, sizeof(header->checksum) - 1, sum);
}

static int write_header(const struct tar *tar, int64_t size, struct kymo_err *err)
{
	struct header header = { .type = '0', .magic = "ustar", .version = { '0', '0' } };

	memcpy(header.name, tar->name, sizeof(header.name));
	put_number(header.mode, sizeof(header.mode), 0644);
	put_number(header.uid, sizeof(header.uid), 0);
	put_number(header.gid, sizeof(header.gid), 0);
	put_number(header.size, sizeof(header.size), size);
	put_number(header.mtime, sizeof(header.mtime), tar->now);
	seal(&header);
	return put_bytes(tar, &header, sizeof(header), err);
}

int tar_open(struct tar *tar, int fd, struct kymo_err *err)
{
	time_t now = time(NULL);

	*tar = (struct tar){ .fd = fd, .now = now > 0 && now <= TAR_FILE_MAX ? now : 0 };
	if (lseek(fd, 0, SEEK_CUR) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "an archive must be a file, because its sizes are written last; choose one with -o");
	return 0;
}

int tar_begin(struct tar *tar, const char *name, struct kymo_err *err)
{
	snprintf(tar->name, sizeof(tar->name), "%s", name);
	tar->header = lseek(tar->fd, 0, SEEK_CUR);
	return write_header(tar, 0, err);
}

int tar_end(struct tar *tar, struct kymo_err *err)
{
	off_t end = lseek(tar->fd, 0, SEEK_CUR);
	int64_t size = end - tar->header - BLOCK;

	if (size > TAR_FILE_MAX)
		return err_set(err, KYMO_EXIT_FAILED, "%s is larger than 8 GiB, the limit for a file in an "
			       "archive; choose less with --begin and --end", tar->name);
	if (seek_to(tar, tar->header, err) || write_header(tar, size, err) ||
	    seek_to(tar, end, err))
		return -1;
	return size % BLOCK ? put_bytes(tar, zeros, (size_t)(BLOCK - size % BLOCK), err) : 0;
}

int tar_close(struct tar *tar, struct kymo_err *err)
{
	return put_bytes(tar, zeros, sizeof(zeros), err);
}
