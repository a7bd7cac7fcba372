/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo flow` and `kymo why` both say. */
#ifndef KYMO_REPORT_FLOW_TEXT_H
#define KYMO_REPORT_FLOW_TEXT_H

#include <stdbool.h>

#include "ctf/read/reader.h"

/**
 * flow_no_ros() - what a trace without events of ROS 2 has instead, and which verb shows it
 * @is_chain: a chain was asked for; else: the worst loop or span was, and there is none
 *
 * Context: does not allocate or block. Return: a sentence that stays valid.
 */
const char *flow_no_ros(const struct kymo_ctf_reader *reader, bool is_chain);

#endif
