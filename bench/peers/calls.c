/* SPDX-License-Identifier: Apache-2.0 */
/* What a call into a shared library costs: before it does anything, and with the least in it. */
#include "floor.h"
#include "peers.h"

struct floor_ring bench_floor;

void bench_empty_8(const void *a)
{
	(void)a;
}

void bench_empty_16(const void *a, const void *b)
{
	(void)a;
	(void)b;
}

void bench_empty_string(const void *a, const char *empty, const char *text)
{
	(void)a;
	(void)empty;
	(void)text;
}

void bench_floor_8(const void *a)
{
	floor_8(&bench_floor, a);
}

void bench_floor_16(const void *a, const void *b)
{
	floor_16(&bench_floor, a, b);
}

void bench_floor_string(const void *a, const char *empty, const char *text)
{
	(void)empty;
	floor_string(&bench_floor, a, text);
}
