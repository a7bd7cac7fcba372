// SPDX-License-Identifier: Apache-2.0
// needs: threads
/* Threads that deflate blocks of a Perfetto file change nothing in it: not a byte, not where a part
 * ends, not what a full disk means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "export/pft/pft.h"

#define EVENTS 120000u
#define PART_BYTES 300000u

/* Replaces that of libc: files have the same number. */
ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
	(void)flags;
	memset(buffer, 7, size);
	return (ssize_t)size;
}

/* A part that is larger than PART_BYTES ends at once: @ends has after which event. */
static void write_events(struct pft *pft, int part_fd, unsigned *ends)
{
	struct pft_track *track = pft_thread(pft, pft_process(pft, 0, 42, "robot"), 43, "loop");
	const uint32_t name = pft_string(pft, "tick"), value = pft_string(pft, "value");
	uint64_t random = 1;

	*ends = 0;
	for (unsigned i = 0; i < EVENTS; i++) {
		struct pft_arg arg = { value, PFT_UINT, { .u = random >> 20 } };

		random = random * 6364136223846793005u + 1442695040888963407u;
		pft_instant(track, 1000000 + 1000 * (int64_t)i,
			    &(struct pft_event){ .name = name, .arg = &arg, .args = 1 });
		if (part_fd < 0 || *ends || pft_part_bytes(pft) < PART_BYTES)
			continue;
		pft_part(pft, part_fd, 1000000 + 1000 * (int64_t)i);
		*ends = i;
	}
}

struct file {
	uint8_t *data;
	size_t size;
};

static struct file file_of(int fd)
{
	struct file file = { .size = (size_t)lseek(fd, 0, SEEK_END) };

	file.data = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(file.data, MAP_FAILED);
	close(fd);
	return file;
}

/* @part: NULL: the file is not split. Return: after which event it was. */
static unsigned make(bool threads, struct file *file, struct file *part)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	const int part_fd = part ? memfd_create("part", MFD_CLOEXEC) : -1;
	struct pft *pft;
	unsigned ends;

	assert_int_equal(pft_open(&pft, fd, 1, NULL), 0);
	if (threads)
		pft_threads(pft);
	write_events(pft, part_fd, &ends);
	assert_int_equal(pft_close(pft, NULL), 0);
	*file = file_of(fd);
	if (part)
		*part = file_of(part_fd);
	return ends;
}

static void is_same(struct file *a, struct file *b)
{
	assert_int_equal(a->size, b->size);
	assert_memory_equal(a->data, b->data, a->size);
	munmap(a->data, a->size);
	munmap(b->data, b->size);
}

static void same_bytes(void **state)
{
	struct file alone, with;

	(void)state;
	(void)make(false, &alone, NULL);
	(void)make(true, &with, NULL);
	assert_true(alone.size > 3 * PART_BYTES);
	is_same(&alone, &with);
}

static void same_parts(void **state)
{
	struct file alone, with, part_alone, part_with;
	unsigned ends;

	(void)state;
	ends = make(false, &alone, &part_alone);
	assert_int_not_equal(ends, 0);
	assert_int_equal(make(true, &with, &part_with), ends);
	is_same(&alone, &with);
	is_same(&part_alone, &part_with);
}

/* The disk is full only when threads work already. */
static void disk_full(void **state)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct kymo_err err = { 0 };
	struct pft *pft;
	unsigned ends;

	(void)state;
	assert_true(fd >= 0 && full >= 0);
	assert_int_equal(pft_open(&pft, fd, 1, &err), 0);
	pft_threads(pft);
	write_events(pft, full, &ends);
	assert_int_not_equal(ends, 0);
	assert_true(pft_failed(pft));
	assert_int_equal(pft_close(pft, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_FAILED);
	close(full);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(same_parts),
		cmocka_unit_test(disk_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
