/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/format/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/format/framing.h"

static const char text_begin[] = "/* CTF 1.8 */";
static const char text_end[] = "};\n\n";	/* of every declaration that is appended */

#define TEXT_TAIL	(1u << 20)		/* never is more appended at once */

/*
 * Opens a regular file of our own user for reading and writing. It is checked before it is opened,
 * because opening a device can have effects, and then opened through the checked descriptor,
 * because the name may lead elsewhere by then.
 */
static int open_own(const char *path, uint64_t *length)
{
	int seen = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd, error;
	struct stat st;
	char name[64];

	if (seen < 0)
		return -errno;
	if (fstat(seen, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		(void)close(seen);
		return -EINVAL;
	}
	(void)snprintf(name, sizeof name, "/proc/self/fd/%d", seen);
	fd = open(name, O_RDWR | O_CLOEXEC);
	error = errno;
	(void)close(seen);
	*length = (uint64_t)st.st_size;
	return fd < 0 ? -error : fd;
}

static bool begins_with(int fd, uint64_t offset, const void *bytes, size_t size)
{
	uint8_t found[256];

	return size <= sizeof found && offset <= INT64_MAX &&
	       pread(fd, found, size, (off_t)offset) == (ssize_t)size &&
	       memcmp(found, bytes, size) == 0;
}

static int cut_off(int fd, const char *path, uint64_t length)
{
	if (ftruncate(fd, (off_t)length) < 0)
		return -errno;
	if (!length)
		(void)unlink(path);	/* an empty file is no stream */
	return 0;
}

static bool is_file_missing(const struct ctf_tail_packet *packet)
{
	const char *slash = strrchr(packet->path, '/');
	char directory[PATH_MAX];
	struct stat st;

	if (packet->offset || !slash || (size_t)(slash - packet->path) >= sizeof directory)
		return false;
	memcpy(directory, packet->path, (size_t)(slash - packet->path));
	directory[slash - packet->path] = 0;
	return stat(directory, &st) == 0 && S_ISDIR(st.st_mode);
}

static const uint32_t magic = CTF_PACKET_MAGIC;

static bool begins_packet(const struct ctf_tail_packet *packet)
{
	return packet->head_size >= sizeof magic && memcmp(packet->head, &magic, sizeof magic) == 0;
}

/* Whether the packet's head, or the part of it that exists, is at the expected place. */
static bool is_it(int fd, const struct ctf_tail_packet *packet, uint64_t there)
{
	return begins_packet(packet) &&
	       (!packet->offset || begins_with(fd, 0, &magic, sizeof magic)) &&
	       begins_with(fd, packet->offset, packet->head,
			   there < packet->head_size ? (size_t)there : packet->head_size);
}

static enum ctf_tail check_packet(int fd, const struct ctf_tail_packet *packet, uint64_t length,
				  uint64_t *cut, int *rc)
{
	const uint64_t there = length > packet->offset ? length - packet->offset : 0;

	if (length < packet->offset || !begins_packet(packet) ||
	    (there && !is_it(fd, packet, there)))
		return CTF_TAIL_OTHER;
	if (!there)
		return CTF_TAIL_NOTHING;
	if (there >= packet->size)
		return CTF_TAIL_WHOLE;
	*rc = cut_off(fd, packet->path, packet->offset);
	*cut = *rc == 0 ? there : 0;
	return CTF_TAIL_NOTHING;
}

enum ctf_tail ctf_tail_packet(const struct ctf_tail_packet *packet, uint64_t *cut, int *rc)
{
	enum ctf_tail result;
	uint64_t length;
	int fd;

	*cut = 0;
	*rc = 0;
	fd = open_own(packet->path, &length);
	if (fd == -ENOENT && is_file_missing(packet))
		return CTF_TAIL_NOTHING;
	if (fd == -EINVAL)
		return CTF_TAIL_OTHER;
	if (fd < 0) {
		*rc = fd;
		return CTF_TAIL_GONE;
	}
	result = check_packet(fd, packet, length, cut, rc);
	(void)close(fd);
	return result;
}

int ctf_tail_take_back(const struct ctf_tail_packet *packet)
{
	uint64_t length;
	int fd = open_own(packet->path, &length), rc = -EINVAL;

	if (fd < 0)
		return fd;
	if (packet->size && length >= packet->size && length - packet->size == packet->offset &&
	    packet->size >= packet->head_size && is_it(fd, packet, packet->size))
		rc = cut_off(fd, packet->path, packet->offset);
	(void)close(fd);
	return rc;
}

/* How many of the @size bytes at @text, the end of the metadata, are whole declarations. */
static size_t whole_text(const char *text, size_t size)
{
	const size_t end = sizeof text_end - 1;

	while (size >= end && memcmp(text + size - end, text_end, end) != 0)
		size--;
	return size >= end ? size : 0;
}

int ctf_tail_metadata(const char *path, uint64_t *cut)
{
	uint64_t length, from;
	size_t size, whole;
	char *text;
	int fd = open_own(path, &length), rc = -EINVAL;

	*cut = 0;
	if (fd < 0)
		return fd;
	from = length > TEXT_TAIL ? length - TEXT_TAIL : 0;
	size = (size_t)(length - from);
	text = malloc(size + 1);
	if (!text)
		rc = -ENOMEM;
	else if (begins_with(fd, 0, text_begin, sizeof text_begin - 1) &&
		 pread(fd, text, size, (off_t)from) == (ssize_t)size) {
		whole = whole_text(text, size);
		rc = whole == size ? 0 : whole ? cut_off(fd, path, from + whole) : -EINVAL;
		*cut = rc == 0 ? size - whole : 0;
	}
	free(text);
	(void)close(fd);
	return rc;
}
