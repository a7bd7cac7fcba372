/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which messages and runs belong to the start of a program: the rule is in model_startup.c.
 *
 * Context of all functions: wait-free.
 */
#ifndef KYMO_ANALYSIS_MODEL_STARTUP_H
#define KYMO_ANALYSIS_MODEL_STARTUP_H

#include "analysis/model/model.h"

/** model_without_startup() - from now on, nothing is start-up; before the first event. */
void model_without_startup(struct model *model);

/** model_message_is_startup() - @message: as a listener receives it, with its take. */
bool model_message_is_startup(const struct model_message *message);

/** model_is_startup() - of a run: of the message that it was called with, or of its timer. */
static inline bool model_is_startup(const struct model_instance *instance)
{
	return instance->is_startup;
}

#endif
