/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/runtime/environment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_MAX (2u << 20)	/* bytes: what exec() takes by default, about */

char *environment_read(int pid, size_t *size)
{
	char path[64], *text = NULL;
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/environ", pid);
	fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	text = malloc(ENVIRONMENT_MAX);
	*size = 0;
	while (text && *size < ENVIRONMENT_MAX - 1 &&
	       (got = read(fd, text + *size, ENVIRONMENT_MAX - 1 - *size)) > 0)
		*size += (size_t)got;
	(void)close(fd);
	if (text)
		text[*size] = 0;
	return text;
}

const char *environment_value(const char *environment, size_t size, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = environment; at && at < environment + size; at += strlen(at) + 1)
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return at + length + 1;
	return NULL;
}
