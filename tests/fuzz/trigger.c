/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a trigger, and as a name that it is held against. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/trigger/trigger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct triggers triggers;
	char *text = malloc(size + 1);
	struct kymo_err err = { 0 };

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	triggers.count = 0;
	if (triggers_add(&triggers, text, &err) == 0) {
		if (!triggers.count || triggers.item[0].parts != triggers.count ||
		    strcmp(triggers.item[0].text, text) != 0)
			abort();
		text[size < 256 ? size : 256] = 0;
		(void)trigger_name_fits(&triggers.item[0], text);
	} else if (err.status != KYMO_EXIT_USAGE || !err.text[0] || triggers.count) {
		abort();
	}
	free(text);
	return 0;
}
