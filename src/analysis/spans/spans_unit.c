/* SPDX-License-Identifier: Apache-2.0 */
/* The unit of a counter, which the end of its name tells: queue_bytes, latency_ns, current [A]. */
#include <string.h>

#include "analysis/spans/spans.h"
#include "base/array.h"

static const struct spans_unit units[] = {
	{ "ns", 1 },      { "us", 1e3 },    { "ms", 1e6 },    { "s", 1e9 },   { "bytes", 0 },
	{ "percent", 0 }, { "hz", 0 },      { "rpm", 0 },     { "m", 0 },     { "mm", 0 },
	{ "rad", 0 },     { "deg", 0 },     { "celsius", 0 }, { "volts", 0 }, { "amps", 0 },
	{ "watts", 0 },   { "newtons", 0 },
};

static bool find(struct spans_unit *unit, const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (strlen(units[i].name) == length && !memcmp(units[i].name, name, length)) {
			*unit = units[i];
			return true;
		}
	return false;
}

/* "current [A]" */
static bool in_brackets(struct spans_unit *unit, const char *counter)
{
	const size_t length = strlen(counter);
	const char *open = strrchr(counter, '['), *end = counter + length - (length > 0);
	const size_t inside = open && end > open ? (size_t)(end - open) - 1 : 0;

	if (*end != ']' || !inside || inside >= SPANS_UNIT_MAX || open == counter)
		return false;
	if (find(unit, open + 1, inside))
		return true;
	*unit = (struct spans_unit){ .ns = 0 };
	memcpy(unit->name, open + 1, inside);
	return true;
}

bool spans_unit(struct spans_unit *unit, const char *counter)
{
	const char *end = strrchr(counter, '_');

	return in_brackets(unit, counter) ||
	       (end && end > counter && find(unit, end + 1, strlen(end + 1)));
}
