/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of summaries: are two of them alike? */
#include <stdio.h>
#include <string.h>

#include "summary/summary.h"

static void say(char *text, size_t size, const char *what, const char *a, const char *b)
{
	const size_t used = strlen(text);

	(void)snprintf(text + used, size - used, "%s%s '%.60s' and '%.60s'", used ? ", " : "", what,
		       a, b);
}

bool summary_machine_differs(const struct summary *a, const struct summary *b, char *text,
			     size_t size)
{
	*text = '\0';
	for (unsigned part = 0; part < MACHINE_PARTS; part++)
		if (*a->machine[part] && *b->machine[part] &&
		    strcmp(a->machine[part], b->machine[part]) != 0)
			say(text, size, accounts_machine_name((enum accounts_machine)part),
			    a->machine[part], b->machine[part]);
	/* Containers have a new name each time; a machine that is known is known better. */
	if ((!*a->machine[MACHINE_CPU] || !*b->machine[MACHINE_CPU]) &&
	    strcmp(a->host, b->host) != 0)
		say(text, size, "host", a->host, b->host);
	return *text;
}
