/* SPDX-License-Identifier: Apache-2.0 */
/* What was pushed and uploaded, as metrics. */
#ifndef KYMO_SERVE_PUSH_H
#define KYMO_SERVE_PUSH_H

#include <stdbool.h>
#include <stdio.h>

#include "fleet/push/push.h"
#include "fleet/upload/upload.h"

/** serve_push_put() - a part of /metrics; nothing if @push is NULL. @open: OpenMetrics. */
void serve_push_put(struct push *push, bool open, FILE *out);

/** serve_upload_put() - the same of incidents; nothing if @upload is NULL. @what: "upload" or
 * "webhook" */
void serve_upload_put(struct upload *upload, const char *what, bool open, FILE *out);

#endif
