/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo flow` and `kymo why` both say. */
#ifndef KYMO_REPORT_FLOW_TEXT_H
#define KYMO_REPORT_FLOW_TEXT_H

#include "ctf/read/reader.h"

/**
 * flow_no_ros() - what a trace without events of ROS 2 has instead, and which verb shows it
 *
 * Context: does not allocate or block. Return: a sentence that stays valid.
 */
const char *flow_no_ros(const struct kymo_ctf_reader *reader);

#endif
