/* SPDX-License-Identifier: Apache-2.0 */
/* Facts for the triggers' tests, from numbers and texts; and what the triggers have hit. */
#ifndef KYMO_TESTS_TRIGGER_FACTS_H
#define KYMO_TESTS_TRIGGER_FACTS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/array.h"
#include "recorder/trigger/trigger.h"

struct hits {
	unsigned count;
	struct trigger_hit hit[64];
};

/* A struct trigger_listener's function; @context: struct hits. */
static inline void hits_add(void *context, const struct trigger_hit *hit)
{
	struct hits *hits = context;

	assert_true(hits->count < COUNT_OF(hits->hit));
	hits->hit[hits->count++] = *hit;
}

/* @kinds: 'p' takes an int, 'w' a uint64_t, which are eight bytes of the fact; 's' a text. */
static inline void fact(struct trigger_process *process, unsigned id, const char *kinds, ...)
{
	uint8_t bytes[512];
	size_t used = 0;
	va_list args;

	va_start(args, kinds);
	for (; *kinds; kinds++) {
		if (*kinds == 's') {
			const char *text = va_arg(args, const char *);

			memcpy(bytes + used, text, strlen(text) + 1);
			used += strlen(text) + 1;
		} else {
			const uint64_t value = *kinds == 'w' ? va_arg(args, uint64_t)
							     : (uint64_t)va_arg(args, int);

			memcpy(bytes + used, &value, sizeof value);
			used += sizeof value;
		}
	}
	va_end(args);
	trigger_fact(process, id, bytes, used);
}

#endif
