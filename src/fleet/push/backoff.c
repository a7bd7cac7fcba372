/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/push/backoff.h"

#include <stdint.h>
#include <sys/random.h>

#define WAIT_LEAST_MS 250u
#define WAIT_MOST_MS 300000u

unsigned backoff_ms(unsigned failures)
{
	unsigned ms = WAIT_LEAST_MS;
	uint32_t chance = 0;

	while (--failures && ms < WAIT_MOST_MS)
		ms *= 2;
	if (ms > WAIT_MOST_MS)
		ms = WAIT_MOST_MS;
	(void)getrandom(&chance, sizeof(chance), 0);
	return ms / 2 + chance % (ms / 2);
}

unsigned backoff_spread_ms(unsigned most_ms)
{
	uint32_t chance = 0;

	(void)getrandom(&chance, sizeof(chance), 0);
	return most_ms ? chance % most_ms : 0;
}
