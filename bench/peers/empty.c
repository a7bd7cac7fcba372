/* SPDX-License-Identifier: Apache-2.0 */
/* Empty functions in a shared library: what a call costs before it does anything. */
#include "peers.h"

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
