/* SPDX-License-Identifier: Apache-2.0 */
/* See found.h. Three lines: the number, the first sentence, what `kymo why` takes. */
#include "cli/input/found.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "summary/findings.h"

static const char question[] = "findings";

void found_open(struct found_keeper *keeper, const struct cli_traces *traces,
		const struct cli_times *times)
{
	*keeper = (struct found_keeper){ 0 };
	if (traces->count == 1 && !times->begin && !times->end && !times->clock)
		kept_open_small(&keeper->kept, question, traces->path[0]);
}

void found_put(void *context, const struct summary *summary)
{
	const struct found_keeper *keeper = context;
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	char sentence[1024] = "", text[3072];
	const char *ask = "";
	unsigned count;
	int length;

	if (!keeper->kept.path[0])
		return;
	count = summary_findings(summary, finding, SUMMARY_FINDINGS_MAX);
	if (count) {
		summary_finding_text(summary, &finding[0], sentence, sizeof(sentence));
		ask = summary_finding_ask(&finding[0]);
	}
	length = snprintf(text, sizeof(text), "%u\n%s\n%s\n", count, sentence, ask);
	if (length > 0 && (size_t)length < sizeof(text))
		kept_put(&keeper->kept, text, (size_t)length);
}

void found_close(struct found_keeper *keeper)
{
	kept_close(&keeper->kept);
}

/*
 * Copies a line without its end. Return: what follows; NULL: there is no line, or it is too long.
 */
static const char *line(const char *from, char *to, size_t size)
{
	const char *end = from ? strchr(from, '\n') : NULL;

	if (!end || (size_t)(end - from) >= size)
		return NULL;
	memcpy(to, from, (size_t)(end - from));
	to[end - from] = '\0';
	return end + 1;
}

bool found_get(const char *path, struct found *found)
{
	char number[16] = "", *text;
	const char *rest;
	struct kept kept;
	size_t size;

	kept_open_small(&kept, question, path);
	text = kept_get(&kept, &size);
	kept_close(&kept);
	rest = line(text, number, sizeof(number));
	rest = line(rest, found->first, sizeof(found->first));
	rest = line(rest, found->ask, sizeof(found->ask));
	found->findings = (unsigned)strtoul(number, NULL, 10);
	free(text);
	return rest != NULL;
}
