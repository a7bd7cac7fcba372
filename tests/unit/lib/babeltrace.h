/* SPDX-License-Identifier: Apache-2.0 */
/* What babeltrace2 says about a trace: the other opinion in tests of what we write. */
#ifndef KYMO_TEST_BABELTRACE_H
#define KYMO_TEST_BABELTRACE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct babeltrace {
	int status;		/* of the command; 77: it is not installed */
	uint64_t events;	/* lines on stdout */
	uint64_t matching;	/* of them, lines with the wanted text */
	uint64_t discarded;	/* events that its messages name */
	uint64_t complaints;	/* other lines on stderr */
	char first[1024];	/* first event */
	char complaint[1024];	/* first complaint */
};

static inline struct babeltrace babeltrace_read(const char *trace, const char *wanted)
{
	static const char mark[] = "Tracer discarded ";
	struct babeltrace result = { 0 };
	char command[1024], line[65536];
	FILE *out;

	snprintf(command, sizeof command,
		 "command -v babeltrace2 >/dev/null || exit 77; "
		 "{ babeltrace2 '%s' 2>&1 >&3 | sed 's/^/!/'; } 3>&1; babeltrace2 '%s' >/dev/null 2>&1",
		 trace, trace);
	out = popen(command, "r");
	while (out && fgets(line, sizeof line, out)) {
		const char *at = strstr(line, mark);

		if (line[0] != '!') {
			if (!result.events++)
				snprintf(result.first, sizeof result.first, "%.1000s", line);
			result.matching += wanted && strstr(line, wanted);
		} else if (at) {
			result.discarded += strtoull(at + strlen(mark), NULL, 10);
		} else if (!result.complaints++) {
			snprintf(result.complaint, sizeof result.complaint, "%.1000s", line);
		}
	}
	result.status = out ? pclose(out) >> 8 : -1;
	return result;
}

#endif
