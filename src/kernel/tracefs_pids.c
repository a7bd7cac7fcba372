/* SPDX-License-Identifier: Apache-2.0 */
/* The list of threads in an instance of tracefs: set_event_pid, one number a line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "kernel/kernel_source.h"

#define FILE_NAME "set_event_pid"
#define NUMBER_MAX 12 /* bytes of a number and the space behind it */

/* Into @listed. A number that lies across two reads is put together. */
static void read_list(int dir, struct map *listed)
{
	const int fd = openat(dir, FILE_NAME, O_RDONLY | O_CLOEXEC);
	char text[4096];
	uint64_t number = 0;
	ssize_t size;

	while (fd >= 0 &&
	       ((size = read(fd, text, sizeof(text))) > 0 || (size < 0 && errno == EINTR)))
		for (ssize_t i = 0; i < size; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				number = number * 10 + (uint64_t)(text[i] - '0');
				continue;
			}
			if (number)
				(void)map_put(listed, number, 0, listed);
			number = 0;
		}
	if (fd >= 0)
		(void)close(fd);
}

/* Each write replaces the kernel's list by a longer copy: one write for all. Return: 0; -errno. */
static int append(int dir, const char *text, size_t size)
{
	const int fd = openat(dir, FILE_NAME, O_WRONLY | O_CLOEXEC);
	ssize_t done = 0;
	int rc = fd < 0 ? -errno : 0;

	while (rc == 0 && size) {
		done = write(fd, text, size);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			rc = done < 0 ? -errno : -EIO;
		text += done > 0 ? done : 0;
		size -= done > 0 ? (size_t)done : 0;
	}
	if (fd >= 0)
		(void)close(fd);
	return rc;
}

int pids_add(int dir, const int32_t *tid, unsigned count)
{
	struct map listed = MAP_INIT;
	char *text = malloc((size_t)count * NUMBER_MAX + 1);
	size_t size = 0;
	int missing = 0, rc = text ? 0 : -ENOMEM;

	read_list(dir, &listed);
	for (unsigned i = 0; text && i < count; i++) {
		if (tid[i] <= 0 || map_get(&listed, (uint64_t)tid[i], 0))
			continue;
		size += (size_t)snprintf(text + size, NUMBER_MAX + 1, "%" PRId32 " ", tid[i]);
		missing++;
	}
	map_free(&listed);
	if (size)
		rc = append(dir, text, size);
	free(text);
	return rc < 0 ? rc : missing;
}
