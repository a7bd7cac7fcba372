/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a capture, in memory. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/capture/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *stream = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	char text[CAPTURE_ADDRESS_MAX];
	struct captures *captures;
	struct kymo_err err = { 0 };

	if (!stream)
		return 0;
	if (!captures_read_stream(&captures, stream, &err)) {
		for (uint64_t i = 0; i < captures_count(captures); i++)
			(void)capture_address_text(&captures_packet(captures, i)->from, text);
		captures_free(captures);
	}
	fclose(stream);
	return 0;
}
