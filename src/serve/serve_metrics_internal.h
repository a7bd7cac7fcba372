/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of serve_metrics.h share: which entities have room, and the text. */
#ifndef KYMO_SERVE_METRICS_INTERNAL_H
#define KYMO_SERVE_METRICS_INTERNAL_H

#include <stdint.h>

#include "base/map.h"
#include "serve/serve_metrics.h"

#define SERVE_METRICS_BOUNDS 19u  /* of a histogram, without +Inf */
#define SERVE_METRICS_CULPRITS 8u /* of a callback: the first ones */

struct serve_metrics {
	struct serve_metrics_options options;
	struct summary *total;
	struct map known; /* (hash, kind) of an entity: it is in total */
	uint64_t series, dropped, windows, over;
	int64_t end_ns;
};

#endif
