/* SPDX-License-Identifier: Apache-2.0 */
/* Counts for the running tables. See running.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/running/running_internal.h"

/* ---- counting ---- */

static struct running_tally *tally_of(struct running *running, struct running_tallies *tallies,
				      unsigned index)
{
	struct running_tally *tally = ARRAY_AT(tallies->of, tallies->count, index);

	running->no_memory |= !tally;
	return tally;
}

static void add_time(struct running *running, struct running_tally *tally, int64_t ns)
{
	if (ns >= 0 && histogram_add(&tally->times, (uint64_t)ns))
		running->no_memory = true;
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct running *running = context;
	struct running_tally *tally =
		tally_of(running, &running->callbacks, instance->callback->index);

	if (!tally)
		return;
	tally->count++;
	add_time(running, tally, instance->duration_ns);
}

static void on_published(void *context, const struct model_message *message)
{
	struct running *running = context;
	struct running_tally *tally, *publisher;

	if (!message->publisher || !message->topic)
		return;
	tally = tally_of(running, &running->topics, message->topic->index);
	publisher = tally_of(running, &running->publishers, message->publisher->index);
	if (!tally || !publisher)
		return;
	/* A call that goes both ways is reported twice, with one id. */
	tally->count += message->id != publisher->last_id;
	publisher->last_id = message->id;
}

static void on_taken(void *context, const struct model_message *message)
{
	struct running *running = context;
	struct running_tally *tally =
		message->topic ? tally_of(running, &running->topics, message->topic->index) : NULL;

	if (!tally)
		return;
	tally->taken++;
	/* Clocks of two hosts are not comparable. */
	if (message->callback_ns && message->publish_ns && message->publish_thread &&
	    message->publish_thread->process->host == message->callback->process->host)
		add_time(running, tally, message->callback_ns - message->publish_ns);
}

static const struct model_listener listener = {
	.instance = on_instance, .published = on_published, .taken = on_taken,
};

static void count_class(struct running *running, unsigned index)
{
	uint64_t *count = ARRAY_AT(running->classes, running->class_count, index);

	if (count)
		++*count;
	else
		running->no_memory = true;
}

static void count_process(struct running *running, const struct kymo_ctf_event *event)
{
	struct running_process *process =
		map_at(&running->processes, (uint32_t)event->vpid, event->trace, sizeof(*process));

	running->no_memory |= !process;
	if (!process)
		return;
	if (!process->pid) {
		process->pid = event->vpid;
		strncpy(process->name, event->procname, sizeof(process->name) - 1);
	}
	process->count++;
}

/* Traces appear while one looks. */
static void tell_hosts(struct running *running)
{
	for (; running->traces < kymo_ctf_trace_count(running->reader); running->traces++) {
		const struct kymo_ctf_trace_info *info =
			kymo_ctf_trace(running->reader, running->traces);

		if (model_set_host(running->model, running->traces, info->hostname,
				   info->clock_offset_ns))
			running->no_memory = true;
	}
}

int running_event(struct running *running, const struct kymo_ctf_event *event, struct kymo_err *err)
{
	if (event->trace >= running->traces)
		tell_hosts(running);
	if (event->bound == KYMO_CTF_LOSS) {
		running->lost_events += event->lost;
		running->lost_packets += event->lost_packets;
		running->lost += event->lost + event->lost_packets;
	} else {
		running->events++;
		count_class(running, event->class->index);
		if (event->vpid)
			count_process(running, event);
	}
	if (!running->first_ns)
		running->first_ns = event->ns;
	if (event->ns > running->last_ns)
		running->last_ns = event->ns;
	if (model_event(running->model, event) < 0 || running->no_memory)
		return err_no_memory(err);
	return 0;
}

/* ---- a block ---- */

static void forget_tallies(struct running_tallies *tallies)
{
	for (unsigned i = 0; i < tallies->count; i++) {
		histogram_free(&tallies->of[i].times);
		tallies->of[i] = (struct running_tally){ 0 };
	}
}

void running_forget(struct running *running)
{
	const struct map_slot *slot;
	size_t at = 0;

	forget_tallies(&running->callbacks);
	forget_tallies(&running->topics);
	if (running->class_count)
		memset(running->classes, 0, running->class_count * sizeof(*running->classes));
	while ((slot = map_next(&running->processes, &at)))
		((struct running_process *)slot->value)->count = 0;
	running->events = running->lost_events = running->lost_packets = 0;
	running->first_ns = running->last_ns;	/* the next block is about what comes behind it */
}

void running_begin(struct running *running, int64_t ns)
{
	running->last_ns = ns;
	running_forget(running);
}

bool running_is_empty(const struct running *running)
{
	return !running->events && !running->lost_events && !running->lost_packets;
}

int64_t running_until(const struct running *running)
{
	return running->last_ns;
}

uint64_t running_lost(const struct running *running)
{
	return running->lost;
}

/* ---- life ---- */

int running_create(struct running **out, struct kymo_ctf_reader *reader,
		   const struct selection *selection, bool all, struct kymo_err *err)
{
	struct running *running = calloc(1, sizeof(*running));

	if (!running)
		return err_no_memory(err);
	running->reader = reader;
	running->selection = selection;
	running->hides = !all && !selection_any(selection);
	if (model_create(&running->model, err) < 0 ||
	    model_listen(running->model, &listener, running, err) < 0 ||
	    model_attach(running->model, reader, err) < 0) {
		running_destroy(running);
		return -1;
	}
	running->traces = kymo_ctf_trace_count(reader);
	*out = running;
	return 0;
}

void running_destroy(struct running *running)
{
	if (!running)
		return;
	model_destroy(running->model);
	forget_tallies(&running->callbacks);
	forget_tallies(&running->topics);
	map_free_all(&running->processes);
	free(running->callbacks.of);
	free(running->topics.of);
	free(running->publishers.of);
	free(running->classes);
	free(running);
}
