/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entities that are alike: of one name, in processes of one name. Twelve processes of one program
 * that hear each other have 144 chains of one name; people see them as one.
 */
#include <ctype.h>
#include <string.h>

#include "summary/summary.h"

/* The length of the process's name: of "talker #2", that of "talker". */
static size_t base_length(const char *of)
{
	const size_t length = strlen(of);
	size_t end = length;

	while (end && isdigit((unsigned char)of[end - 1]))
		end--;
	return end < length && end > 2 && strncmp(of + end - 2, " #", 2) == 0 ? end - 2 : length;
}

bool summary_is_alike(const struct summary_entity *a, const struct summary_entity *b)
{
	size_t length;

	if (a == b)
		return true;
	if (a->name != b->name)
		return false;
	/* A chain is of all processes on its way. */
	if (a->of == b->of || (a->kind == SUMMARY_CHAIN && b->kind == SUMMARY_CHAIN))
		return true;
	length = base_length(a->of);
	return length == base_length(b->of) && strncmp(a->of, b->of, length) == 0;
}
