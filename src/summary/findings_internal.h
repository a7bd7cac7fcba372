/* SPDX-License-Identifier: Apache-2.0 */
/* Between the proposals of findings_propose.c and their order in findings.c. */
#ifndef KYMO_SUMMARY_FINDINGS_INTERNAL_H
#define KYMO_SUMMARY_FINDINGS_INTERNAL_H

#include "summary/findings.h"

struct proposals {
	struct summary_finding *finding;
	unsigned count, size;
};

/* Adds what may be wrong with @entity. */
void findings_propose(struct proposals *all, const struct summary *summary,
		      const struct summary_entity *entity);

/* The worst instance of @entity, notable or not. */
struct summary_finding findings_instance(const struct summary_entity *entity,
					 enum summary_finding_kind kind);

/* Do both parts blame the same one for the same? */
bool findings_is_same_trouble(const struct summary_part *a, const struct summary_part *b);

#endif
