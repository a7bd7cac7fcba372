/* SPDX-License-Identifier: Apache-2.0 */
/* What was pushed, as metrics. */
#ifndef KYMO_SERVE_PUSH_H
#define KYMO_SERVE_PUSH_H

#include <stdbool.h>
#include <stdio.h>

#include "fleet/push/push.h"

/** serve_push_put() - a part of /metrics; nothing if @push is NULL. @open: OpenMetrics. */
void serve_push_put(struct push *push, bool open, FILE *out);

#endif
