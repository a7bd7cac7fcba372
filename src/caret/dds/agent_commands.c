/* SPDX-License-Identifier: Apache-2.0 */
/* What a Start and an End do in the ROS domain in which they arrive. */
#include "caret/dds/agent_internal.h"

#include <inttypes.h>

static bool is_active(struct agent *agent, bool starts)
{
	const struct domain_info *session = &agent->roster.session;

	if (agent->options->active.kind == ACTIVE_KYMO)
		return session->active;
	return (session->active && !steer_is_own(agent->steer, session)) ||
	       active_elsewhere(&agent->options->active, starts);
}

/* The processes that messages in the domain of @speaker are meant for. */
static struct ros_domains meant(const struct agent *agent, const struct speaker *speaker)
{
	struct ros_domains set = { 0 };

	ros_domains_add(&set, speaker_domain(speaker) + 1);
	if (speaker == agent->speaker[0])
		ros_domains_add(&set, KYMO_ROS_UNKNOWN);
	return set;
}

/* What the session, if there is one, does for the domain of @speaker. */
static enum machine_session session_for(const struct agent *agent, const struct speaker *speaker)
{
	const struct domain_info *session = &agent->roster.session;
	const uint32_t number = speaker_domain(speaker) + 1;

	if (!session->active || steer_is_ending(agent->steer, number))
		return MACHINE_NONE;
	if (session->state != KYMO_STATE_RECORD)
		return session->armed ? MACHINE_ARMED : MACHINE_PAUSED;
	return ros_domains_has(&session->ros, number) ? MACHINE_RECORDS : MACHINE_ARMED;
}

/* Passes @input to all processes of the domain. Return: the actions of all of them; their number in
 * @count. */
static unsigned deliver_all(struct agent *agent, const struct speaker *speaker,
			    enum machine_input input, bool active, unsigned *count)
{
	unsigned actions = 0;

	*count = 0;
	for (unsigned i = 0; i < agent->roster.count; i++) {
		struct roster_process *process = agent->roster.process[i];

		if (process->left_out || agent_speaker(agent, process) != speaker)
			continue;
		actions |= agent_deliver(agent, process, input, active);
		++*count;
	}
	return actions;
}

static struct order *order_of(struct agent *agent, const struct speaker *speaker)
{
	unsigned i = 0;

	while (agent->speaker[i] != speaker)
		i++;
	return &agent->order[i];
}

/* A message that arrived after a later one of its sender is answered, and nothing else. */
static void on_late(struct agent *agent, struct speaker *speaker, enum machine_input input)
{
	unsigned count = 0;

	for (unsigned i = 0; i < agent->roster.count; i++) {
		struct roster_process *process = agent->roster.process[i];

		if (process->left_out || agent_speaker(agent, process) != speaker)
			continue;
		speaker_status(speaker, process);
		count++;
	}
	agent_report(agent,
		     "%s in ROS domain %" PRIu32
		     ": %u processes; it is late, nothing to do: its sender has sent %s since",
		     input == MACHINE_START ? "Start" : "End", speaker_domain(speaker), count,
		     input == MACHINE_START ? "an End" : "a Start");
}

void agent_on_start(struct agent *agent, struct speaker *speaker, struct start *start,
		    const struct order_sent *sent)
{
	const struct domain_info *session = &agent->roster.session;
	const struct ros_domains ros = meant(agent, speaker);
	enum machine_session does;
	bool active, begin;
	unsigned count;

	agent_update(agent, false);
	if (!order_start(order_of(agent, speaker), sent)) {
		on_late(agent, speaker, MACHINE_START);
		start_free(start);
		return;
	}
	active = is_active(agent, true);
	/* Also without a process: the session waits for later ones. */
	does = session_for(agent, speaker);
	begin = active && (does == MACHINE_ARMED || !session->active ||
			   steer_is_ending(agent->steer, speaker_domain(speaker) + 1));
	(void)deliver_all(agent, speaker, MACHINE_START, active, &count);
	agent_report(agent, "Start in ROS domain %" PRIu32 ": %u processes; %s", speaker_domain(speaker), count,
	     begin ? "a session begins to record" : active ? "nothing to do" : "no session is active");
	if (begin) {
		steer_begin(agent->steer, session, &ros, start);
		agent_update_soon(agent);
	} else if (active) {
		steer_keep(agent->steer, &ros);
	}
	start_free(start);
}

void agent_on_end(struct agent *agent, struct speaker *speaker, const struct order_sent *sent)
{
	const struct ros_domains ros = meant(agent, speaker);
	enum machine_session does;
	bool active, finish;
	unsigned count;

	agent_update(agent, false);
	if (!order_end(order_of(agent, speaker), sent)) {
		on_late(agent, speaker, MACHINE_END);
		return;
	}
	active = is_active(agent, false);
	does = session_for(agent, speaker);
	finish = !active && agent->options->active.kind != ACTIVE_KYMO &&
		 steer_is_beginning(agent->steer);
	finish |= !active && steer_is_own(agent->steer, &agent->roster.session) &&
		  does != MACHINE_NONE &&
		  (agent->roster.session.state != KYMO_STATE_RECORD || does == MACHINE_RECORDS);
	(void)deliver_all(agent, speaker, MACHINE_END, active, &count);
	agent_report(agent, "End in ROS domain %" PRIu32 ": %u processes; %s", speaker_domain(speaker), count,
	     finish ? "the recording that a Start began ends" : active ? "a session is active, so it is meant for other hosts" :
	     "no session is active");
	if (finish)
		steer_finish(agent->steer, &ros);
}
