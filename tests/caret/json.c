/* SPDX-License-Identifier: Apache-2.0 */
/* See json.h. */
#include <stdio.h>
#include <time.h>

#include "json.h"

void json_text(const char *text)
{
	putchar('"');
	for (const unsigned char *at = (const unsigned char *)(text ? text : ""); *at; at++)
		if (*at == '"' || *at == '\\' || *at < 32 || *at > 126)
			printf("\\u%04x", *at);
		else
			putchar(*at);
	putchar('"');
}

void json_list(const char *key, const char *const *item, unsigned count)
{
	printf(", \"%s\": [", key);
	for (unsigned i = 0; i < count; i++) {
		printf("%s", i ? ", " : "");
		json_text(item[i]);
	}
	putchar(']');
}

void event(const char *what)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("{\"event\": \"%s\", \"at\": %.6f", what, (double)now.tv_sec + (double)now.tv_nsec / 1e9);
}

void event_end(void)
{
	puts("}");
	fflush(stdout);
}
