/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records /clock: a thread of its own hears it, whatever the agent's loop does meanwhile, and says the pairs
 * that sim_clock.h keeps as events ros2_caret:sim_time. So the program is itself a traced one from the first
 * pair on, and whoever records has them: `kymo record` of this host, a session that was there before.
 */
#ifndef KYMO_CONTROL_DDS_CLOCK_H
#define KYMO_CONTROL_DDS_CLOCK_H

#include <stdbool.h>

#include "base/err.h"
#include "caret/dds/bus.h"

struct clock;

/**
 * clock_open() - hear /clock on @bus, which must outlive it
 * @rate: pairs a second, 1 to SIM_CLOCK_RATE_MAX
 * @of_several: each says of which domain it is
 *
 * Return: 0; -1 with @err. Context: allocates; makes a thread, which emits events.
 */
int clock_open(struct clock **clock, struct bus *bus, unsigned rate, bool of_several, struct kymo_err *err);

/** clock_want() - whether its pairs are events at present; at first they are. Context: wait-free; any thread. */
void clock_want(struct clock *clock, bool wanted);

/** clock_heard() - whether a time of a simulation came. Context: wait-free; any thread. */
bool clock_heard(const struct clock *clock);

/** clock_close() - ends the thread. NULL is fine. Context: blocks. */
void clock_close(struct clock *clock);

#endif
