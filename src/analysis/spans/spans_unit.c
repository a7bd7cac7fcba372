/* SPDX-License-Identifier: Apache-2.0 */
/* The unit of a counter, which the end of its name tells: queue_bytes, latency_ns. */
#include <string.h>

#include "analysis/spans/spans.h"
#include "base/array.h"

static const struct spans_unit units[] = {
	{ "ns", 1 },      { "us", 1e3 },    { "ms", 1e6 },    { "s", 1e9 },   { "bytes", 0 },
	{ "percent", 0 }, { "hz", 0 },      { "rpm", 0 },     { "m", 0 },     { "mm", 0 },
	{ "rad", 0 },     { "deg", 0 },     { "celsius", 0 }, { "volts", 0 }, { "amps", 0 },
	{ "watts", 0 },   { "newtons", 0 },
};

const struct spans_unit *spans_unit(const char *counter)
{
	const char *end = strrchr(counter, '_');

	for (size_t i = 0; end && end > counter && i < COUNT_OF(units); i++)
		if (strcmp(end + 1, units[i].name) == 0)
			return &units[i];
	return NULL;
}
