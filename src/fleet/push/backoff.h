/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait after a failure. */
#ifndef KYMO_FLEET_BACKOFF_H
#define KYMO_FLEET_BACKOFF_H

/**
 * backoff_ms() - from a quarter of a second, twice as long after each failure, up to five minutes;
 * each time between half of that and all of it by chance, so that robots that failed together do
 * not come back together
 * @failures: in a row, at least 1
 *
 * Context: a system call.
 */
unsigned backoff_ms(unsigned failures);

/** backoff_spread_ms() - a wait of less than @most_ms, by chance: windows of all robots end at the
 * same time. 0: none. Context: a system call. */
unsigned backoff_spread_ms(unsigned most_ms);

#endif
