/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entities that are alike: of one name, in processes of one name. Twelve processes of one program
 * that hear each other have 144 chains of one name; people see them as one.
 */
#include <ctype.h>
#include <stdio.h>
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

/* Chains of one name are alike, so they have one name together. */
char *summary_alike_of(const struct summary_entity *entity, char *buffer, size_t size)
{
	const size_t length = entity->kind == SUMMARY_CHAIN ? 0 : base_length(entity->of);

	(void)snprintf(buffer, size, "%.*s", (int)length, entity->of);
	return buffer;
}

bool summary_has_alike(const struct summary *summary)
{
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];
		const size_t length = entity->kind == SUMMARY_CHAIN ? 0 : base_length(entity->of);

		if (entity->of[length])
			return true;
	}
	return false;
}

int summary_plain_length(const char *label)
{
	size_t length = strlen(label), at = length;

	if (!length || label[length - 1] != ')')
		return (int)length;
	while (at && strncmp(label + at, " (", 2) != 0)
		at--;
	return at ? (int)at : (int)length;
}

const struct summary_entity *summary_next_alike(const struct summary *summary,
						const struct summary_entity *entity, unsigned *at)
{
	const size_t length = entity->kind == SUMMARY_CHAIN ? 0 : base_length(entity->of);

	while (*at < summary->entities) {
		const struct summary_entity *one = summary->entity[(*at)++];

		if (one->kind != entity->kind || strcmp(one->name, entity->name) != 0)
			continue;
		if (one->kind == SUMMARY_CHAIN || (base_length(one->of) == length &&
						   strncmp(one->of, entity->of, length) == 0))
			return one;
	}
	return NULL;
}
