/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KYMO_RECORDER_RECORD_SELVES_H
#define KYMO_RECORDER_RECORD_SELVES_H

#include "recorder/session/session.h"

/**
 * record_selves() - before the session of @options begins: what programs that recorded themselves
 * left when they were killed becomes a trace beside its output, OUTPUT-recovered
 *
 * Does nothing for a session without a directory, or of some programs only. Context: allocates,
 * blocks.
 */
void record_selves(const struct session_options *options);

#endif
