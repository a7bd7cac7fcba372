/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KYMO_SUMMARY_MACHINE_INTERNAL_H
#define KYMO_SUMMARY_MACHINE_INTERNAL_H

#include "summary/summary.h"

/** summary_machine_merge() - what is not the same in @into and @from becomes "several". */
void summary_machine_merge(struct summary *into, const struct summary *from);

#endif
