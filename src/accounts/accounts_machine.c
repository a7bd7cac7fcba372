/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of a recording, out of its accounts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "accounts/accounts.h"

const char *accounts_machine_name(enum accounts_machine part)
{
	static const char *const name[MACHINE_PARTS] = {
		[MACHINE_CPU] = "cpu",
		[MACHINE_CPUS] = "cpus",
		[MACHINE_GOVERNOR] = "governor",
		[MACHINE_KERNEL] = "kernel",
		[MACHINE_OS] = "os",
		[MACHINE_RMW] = "rmw",
		[MACHINE_KYMO] = "kymo",
	};

	return name[part];
}

/* The middleware that its processes name; "several". Most processes name none. */
static const char *rmw(const struct accounts *accounts)
{
	const char *found = "";

	for (unsigned i = 0; i < accounts->process_count; i++) {
		const char *one = accounts->process[i].is.rmw;

		if (*one && *found && strcmp(one, found) != 0)
			return "several";
		if (*one)
			found = one;
	}
	return found;
}

char *accounts_machine(const struct accounts *accounts, enum accounts_machine part,
		       char text[MACHINE_TEXT_MAX])
{
	const char *const from[MACHINE_PARTS] = {
		[MACHINE_CPU] = accounts->host.cpu,
		[MACHINE_GOVERNOR] = accounts->host.governor,
		[MACHINE_KERNEL] = accounts->host.kernel,
		[MACHINE_OS] = accounts->host.os,
		[MACHINE_RMW] = rmw(accounts),
		[MACHINE_KYMO] = accounts->root.kymo,
	};

	*text = '\0';
	if (part == MACHINE_CPUS && accounts->host.cpus)
		(void)snprintf(text, MACHINE_TEXT_MAX, "%" PRIu64, accounts->host.cpus);
	else if (from[part])
		(void)snprintf(text, MACHINE_TEXT_MAX, "%s", from[part]);
	return text;
}
