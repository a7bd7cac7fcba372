/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo flow`: points in time, and the trace. */
#include <stdio.h>
#include <string.h>

#include "report/flow/flow_internal.h"

char *flow_offset(const struct flow *flow, int64_t ns, char *buffer, unsigned size)
{
	if (flow->options->clock)
		snprintf(buffer, size, "%.6f s", (double)simclock_stamp(flow->options->clock, ns) / 1e9);
	else
		snprintf(buffer, size, "+%.6f s", (double)(ns - model_facts(flow->model)->first_ns) / 1e9);
	return buffer;
}

void flow_print_trace(struct flow *flow)
{
	const struct simclock *clock = flow->options->clock;
	char text[128];

	table_value_text(flow->table, "trace", "Trace", flow->path);
	if (clock)
		table_value_text(flow->table, "clock", "Simulation's clock", simclock_text(clock, text, sizeof(text)));
}

const char *flow_no_ros(const struct kymo_ctf_reader *reader, bool is_chain)
{
	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++) {
		const struct kymo_ctf_event_class *class = kymo_ctf_class(reader, i);

		if (strncmp(class->name, "ros2:", 5) && strchr(class->name, ':') &&
		    strcmp(kymo_ctf_trace(reader, class->trace)->tracer, "kymo") == 0)
			return is_chain ? "The trace has no events of ROS 2, but events of kymo.h: "
					  "`kymo report` shows their loops, spans, counters and "
					  "instants, and `kymo why` explains the worst of them."
					: "The trace has no events of ROS 2, and no loop or span of "
					  "kymo.h ended: `kymo report` shows instants and counters.";
	}
	return "The trace has no events of ROS 2. `kymo info` lists what it contains.";
}
