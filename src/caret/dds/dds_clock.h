/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records /clock: a thread of its own receives it, whatever the agent's loop does, and emits the
 * pairs that sim_clock.h keeps as events ros2_caret:sim_time. So this program is a traced program
 * from the first pair on, and recorders have the pairs: `kymo record` on this host, and also a
 * session that began earlier.
 */
#ifndef KYMO_CARET_DDS_CLOCK_H
#define KYMO_CARET_DDS_CLOCK_H

#include <stdbool.h>

#include "base/err.h"
#include "caret/dds/bus.h"

struct dds_clock;

/**
 * dds_clock_open() - receive /clock on @bus, which must outlive it
 * @rate: pairs a second, 1 to SIM_CLOCK_RATE_MAX
 * @of_several: each event has the number of its domain
 *
 * Return: 0; -1 with @err. Context: allocates; creates a thread, which emits events.
 */
int dds_clock_open(struct dds_clock **clock, struct bus *bus, unsigned rate, bool of_several,
		   struct kymo_err *err);

/** dds_clock_want() - whether its pairs are emitted at present; at first they are. Context:
 * wait-free; any thread. */
void dds_clock_want(struct dds_clock *clock, bool wanted);

/** dds_clock_has_time() - whether a time of a simulation arrived. Context: wait-free; any
 * thread. */
bool dds_clock_has_time(const struct dds_clock *clock);

/**
 * dds_clock_is_torn() - whether /clock jumped so often that not all of it was kept: several
 * programs publish it. Context: wait-free; any thread.
 */
bool dds_clock_is_torn(const struct dds_clock *clock);

/** dds_clock_close() - end the thread. NULL: nothing. Context: blocks. */
void dds_clock_close(struct dds_clock *clock);

#endif
