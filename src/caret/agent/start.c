/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a Start. See start.h. */
#include "caret/agent/start.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static bool is_text(const char *text)
{
	while (*text) {
		size_t length = text_utf8_length(text);

		if (!length || (unsigned char)*text < ' ' || *text == 0x7f)
			return false;
		text += length;
	}
	return true;
}

int start_set(struct start *start, enum filter_caret_list list, const char *text,
	      struct kymo_err *err)
{
	if (!text || !*text)
		return 0;
	if (strnlen(text, START_TEXT_MAX) == START_TEXT_MAX)
		return err_set(err, KYMO_EXIT_INPUT, "the Start's %s is longer than %d bytes", filter_caret_variable(list),
			       START_TEXT_MAX - 1);
	if (!is_text(text))
		return err_set(err, KYMO_EXIT_INPUT, "the Start's %s is not text", filter_caret_variable(list));
	free(start->list[list]);
	start->list[list] = strdup(text);
	return start->list[list] ? 0 : err_no_memory(err);
}

bool start_filters(const struct start *start)
{
	for (unsigned i = 0; i < CARET_LISTS; i++)
		if (start->list[i])
			return true;
	return false;
}

void start_free(struct start *start)
{
	for (unsigned i = 0; i < CARET_LISTS; i++)
		free(start->list[i]);
	*start = (struct start){ 0 };
}
