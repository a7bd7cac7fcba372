/* SPDX-License-Identifier: Apache-2.0 */
/* How `kymo flow` and `kymo why` write the steps of a chain. */
#ifndef KYMO_REPORT_FLOW_TEXT_H
#define KYMO_REPORT_FLOW_TEXT_H

#include "analysis/chains/chains.h"
#include "ctf/read/reader.h"

#define FLOW_LABEL_MAX 256

/* What follows the name of a service. */
const char *flow_call_text(enum chains_call call);

/* "/planner", or at the beginning "/driver timer 10 ms"; "/topic". Return: @buffer. */
char *flow_step_label(const struct chains_path *step, char *buffer, unsigned size);
/* "/driver timer 10 ms -> /scan -> /planner"; an indirect link is "~>". Return: @buffer. */
char *flow_chain_label(const struct chains_path *path, char *buffer, unsigned size);

/**
 * flow_no_ros() - what a trace without events of ROS 2 has instead, and which verb shows it
 *
 * Return: a sentence that stays valid.
 */
const char *flow_no_ros(const struct kymo_ctf_reader *reader);

#endif
