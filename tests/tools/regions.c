/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the regions of a runtime directory contain, one line each, in the order of their
 * names:
 *
 *     regions DIR      pid state mode flags wraps dropped
 *
 * The numbers are those of abi/region.h; the flags without LOCKED and COUNTS, which all programs
 * have. wraps is 1 if the first ring has gone round, and dropped is what found no room in it. Tests
 * read it instead of knowing offsets.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/region.h"

static void print(const uint8_t *region, size_t size)
{
	const struct kymo_region *head = (const struct kymo_region *)region;
	const uint32_t *ring_page =
		(const uint32_t *)(region + (size_t)KYMO_RING_DIR_PAGE * KYMO_PAGE);
	const size_t at = (size_t)ring_page[0] * KYMO_PAGE;
	unsigned wraps = 0;
	uint64_t dropped = 0;

	if (at && at + KYMO_PAGE <= size) {
		const struct kymo_ring *ring = (const struct kymo_ring *)(region + at);

		wraps = KYMO_WORD_POS(ring->wpos) > (uint64_t)ring->block_size * ring->block_count;
		dropped = ring->dropped;
	}
	printf("%u %u %u %u %u %" PRIu64 "\n", head->pid, head->state, head->mode, head->flags & ~(KYMO_REGION_LOCKED | KYMO_REGION_COUNTS | KYMO_REGION_COUNTS_SPANS), wraps, dropped);
}

static int show(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat = { 0 };
	void *map = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &stat) == 0 &&
	    (size_t)stat.st_size >= (size_t)KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE)
		map = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		(void)close(fd);
	if (map == MAP_FAILED)
		return errno == ENOENT ? 0 : -1;	/* it went meanwhile */
	print(map, (size_t)stat.st_size);
	return munmap(map, (size_t)stat.st_size);
}

int main(int argc, char **argv)
{
	char pattern[4096];
	glob_t found;
	int status = 0;

	if (argc != 2 || snprintf(pattern, sizeof(pattern), "%s/*.region", argv[1]) >= (int)sizeof(pattern))
		return 2;
	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (show(found.gl_pathv[i]) < 0) {
			(void)fprintf(stderr, "regions: %s: %s\n", found.gl_pathv[i], strerror(errno));
			status = 1;
		}
	globfree(&found);
	return status;
}
