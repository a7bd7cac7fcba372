/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that each speaker of the agent shows to its ROS domain, and in which form. */
#include <stdlib.h>

#include "caret/dds/agent_internal.h"

/* ROS 2 up to Humble and from Iron on do not understand each other's graph: the first process found
 * decides. */
static enum agent_graph graph_form(const struct agent *agent)
{
	const char *distribution = getenv("ROS_DISTRO");

	if (agent->options->graph != AGENT_GRAPH_AUTO)
		return agent->options->graph;
	for (unsigned i = 0; i < agent->roster.count; i++) {
		const struct kymo_region *header = region_header(&agent->roster.process[i]->region);
		uint32_t version = __atomic_load_n(&header->tracetools, __ATOMIC_ACQUIRE);

		if (version)
			return version < 5u << 8 ? AGENT_GRAPH_HUMBLE : AGENT_GRAPH_IRON;
	}
	return distribution && *distribution && distribution[0] <= 'h' ? AGENT_GRAPH_HUMBLE
								       : AGENT_GRAPH_IRON;
}

void agent_publish_graph(struct agent *agent)
{
	const char **name = calloc(agent->roster.count + 1, sizeof *name);

	agent->graph_changed = false;
	for (unsigned i = 0; name && i < agent->speaker_count; i++) {
		unsigned count = 0;

		for (unsigned j = 0; j < agent->roster.count; j++)
			if (!agent->roster.process[j]->left_out &&
			    agent_speaker(agent, agent->roster.process[j]) == agent->speaker[i])
				name[count++] = agent->roster.process[j]->name;
		speaker_graph(agent->speaker[i], graph_form(agent), name, count);
	}
	free(name);
}
