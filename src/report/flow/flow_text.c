/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo flow`: names of steps and chains, and points in time. */
#include <stdio.h>
#include <string.h>

#include "report/flow/flow_internal.h"

const char *flow_call_text(enum chains_call call)
{
	return call == CHAINS_REQUEST ? " request" : call == CHAINS_RESPONSE ? " response" : "";
}

char *flow_step_label(const struct chains_path *step, char *buffer, unsigned size)
{
	const struct model_node *node = step->callback ? model_callback_node(step->callback) : NULL;

	if (step->publisher)
		snprintf(buffer, size, "%s%s", step->publisher->topic->name,
			 flow_call_text(step->call));
	else if (step->parent && node)
		snprintf(buffer, size, "%s%s", node->full_name, step->is_loop ? " (again)" : "");
	else
		model_callback_label(step->callback, buffer, size);
	return buffer;
}

char *flow_chain_label(const struct chains_path *path, char *buffer, unsigned size)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned count = chains_steps(path, step), i, used = 0;
	char label[FLOW_LABEL_MAX];

	*buffer = '\0';
	for (i = 0; i < count && used < size; i++)
		used += (unsigned)snprintf(buffer + used, size - used, "%s%s",
					   !i ? "" : step[i]->link == CHAINS_DIRECT ? " -> " : " ~> ",
					   flow_step_label(step[i], label, sizeof(label)));
	return buffer;
}

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

const char *flow_no_ros(const struct kymo_ctf_reader *reader)
{
	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++) {
		const struct kymo_ctf_event_class *class = kymo_ctf_class(reader, i);

		if (strncmp(class->name, "ros2:", 5) && strchr(class->name, ':') &&
		    strcmp(kymo_ctf_trace(reader, class->trace)->tracer, "kymo") == 0)
			return "The trace has no events of ROS 2, but events of kymo.h: `kymo "
			       "report` shows their "
			       "spans, counters and instants.";
	}
	return "The trace has no events of ROS 2. `kymo info` lists what it contains.";
}
