/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo why` of one of several processes of one name: "/scan -> /cmd_vel (filter 4711)", as findings
 * and labels of the summary say it; of several, "(driver 4710, filter 4711 @left)".
 */
#include <stdio.h>
#include <string.h>

#include "report/report_ways.h"
#include "report/why/report_why_internal.h"

void why_ways_take(struct why_answer *answer, const char *text)
{
	const char *begin = report_ways_in(text);

	*answer->ways = '\0';
	if (begin)
		(void)snprintf(answer->ways, sizeof(answer->ways), "%s", begin + 2);
}

void why_ways_asked(struct why_answer *answer)
{
	const struct why_options *o = answer->options;

	if (!report_ways_split(o->pattern ? o->pattern : o->callback, answer->ask,
			       sizeof(answer->ask), answer->ways, sizeof(answer->ways)))
		return;
	answer->names_ways = true;
	answer->chosen = *o;
	*(o->pattern ? &answer->chosen.pattern : &answer->chosen.callback) = answer->ask;
	answer->options = &answer->chosen;
}

bool why_ways_callback(const struct why_answer *answer, const struct model_callback *callback)
{
	return report_ways_is(answer->ways, callback->process);
}

char *why_ways_of(const struct why_answer *answer, bool is_chain, uint32_t index, bool typed,
		  char *buffer, size_t size)
{
	return is_chain ? report_ways_chain(answer->model, chains_path(answer->chains, index),
					    typed, buffer, size)
			: report_ways_callback(answer->model, model_callback(answer->model, index),
					       typed, buffer, size);
}

char *why_ways_text(const struct why_answer *answer, char *buffer, size_t size)
{
	return why_ways_of(answer, answer->target.is_chain, answer->target.index, false, buffer,
			   size);
}
