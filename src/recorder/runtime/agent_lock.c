/* SPDX-License-Identifier: Apache-2.0 */
/* Two lines: a pid, and domains. See agent_lock.h. */
#include "recorder/runtime/agent_lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "abi/region.h"
#include "recorder/runtime/claim.h"

bool agent_lock_read(const char *dir, int *pid, struct ros_domains *serves)
{
	char path[600], text[256] = "", *at;
	struct ros_domains found = { 0 };
	bool runs;
	int fd;

	(void)snprintf(path, sizeof path, "%s/" AGENT_LOCK_NAME, dir);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	runs = claim_is_taken(fd) && pread(fd, text, sizeof text - 1, 0) > 0;
	(void)close(fd);
	if (pid)
		*pid = (int)strtol(text, NULL, 10);
	(void)strtol(text, &at, 10);
	while (runs && *at) {
		char *end;
		unsigned long number = strtoul(at, &end, 10);

		if (end == at)
			break;
		if (number <= KYMO_ROS_DOMAIN_MAX)
			ros_domains_add(&found, (uint32_t)number + 1);
		at = end;
	}
	if (serves)
		*serves = found;
	return runs;
}
