/* SPDX-License-Identifier: Apache-2.0 */
/* The second reading of the trace: what ran in the windows around the worst instances, and the
 * instances found again in the model of that reading. */
#include "report/page/page_instances_internal.h"

#define MARGIN_LEAST_NS 500000

static unsigned windows_of(struct page_around *around, struct why_window *window)
{
	unsigned windows = 0;

	for (unsigned i = 0; i < around->all; i++) {
		struct page_candidate *c = &around->candidate[i];
		/* Of an executor, more of what it did before and after is to be seen. */
		int64_t margin_ns = c->instance.total_ns / (c->executor < 0 ? 10 : 2);

		/* Of a very short one, not more of the surroundings than can be seen beside it. */
		if (margin_ns < MARGIN_LEAST_NS)
			margin_ns = 2 * c->instance.total_ns < MARGIN_LEAST_NS
					    ? 2 * c->instance.total_ns
					    : MARGIN_LEAST_NS;
		c->window = (struct why_window){ c->instance.begin_ns - margin_ns,
						 c->instance.begin_ns + c->instance.total_ns +
							 margin_ns };
		window[windows++] = c->window;
	}
	return windows;
}

static int read_runs(struct page_around *around, const struct why_window *window, unsigned windows)
{
	struct report *report = around->page->report;

	if (model_create(&around->model, report->err))
		return -1;
	model_only_runs(around->model);
	pass_add(&around->passes, &model_pass, around->model);
	if (why_others_create(&around->others, around->model, window, windows, report->err))
		return -1;
	pass_add(&around->passes, &why_others_pass, around->others);
	return page_read(around->page, &around->passes);
}

/* The kernel's events are others than those of the model. */
static int read_cpus(struct page_around *around, const struct why_window *window, unsigned windows)
{
	struct report *report = around->page->report;
	const struct model *model = around->model ? around->model : report->model;

	if (why_cpu_create(&around->cpu, report->reader, model, window, windows, report->err))
		return -1;
	pass_add(&around->cpu_passes, &why_cpu_pass, around->cpu);
	if (page_cpus_create(&around->cpus, around->page, around->cpu, window, windows))
		return -1;
	return page_read(around->page, &around->cpu_passes);
}

int page_read_around(struct page_around *around)
{
	struct page *page = around->page;
	struct why_window window[PAGE_INSTANCES + PAGE_WAITS];
	const unsigned windows = windows_of(around, window);

	if (windows && read_runs(around, window, windows))
		return -1;
	return sched_is_there(page->report->reader) && page->summary->events
		       ? read_cpus(around, window, windows)
		       : 0;
}

bool page_is_same_process(const struct model_process *a, const struct model_process *b)
{
	return a->pid == b->pid && a->host == b->host;
}

const struct model_thread *page_thread_in(const struct model *model,
					  const struct model_thread *thread)
{
	for (unsigned i = 0; thread && i < model_count(model, MODEL_THREAD); i++) {
		const struct model_thread *other = model_thread(model, i);

		if (other->tid == thread->tid &&
		    page_is_same_process(other->process, thread->process))
			return other;
	}
	return NULL;
}

static const struct model_callback *callback_in(const struct model *model,
						const struct model_callback *callback)
{
	for (unsigned i = 0; callback && i < model_count(model, MODEL_CALLBACK); i++) {
		const struct model_callback *other = model_callback(model, i);

		if (other->address == callback->address && other->born_ns == callback->born_ns &&
		    page_is_same_process(other->process, callback->process))
			return other;
	}
	return NULL;
}

bool page_move_instance(const struct page_around *around, struct why_instance *instance)
{
	for (unsigned i = 0; i < instance->hops; i++) {
		struct why_hop *hop = &instance->hop[i];

		if (hop->callback) {
			hop->callback = callback_in(around->model, hop->callback);
			hop->at.thread = page_thread_in(around->model, hop->at.thread);
			if (!hop->callback || !hop->at.thread)
				return false;
		} else if (hop->at.thread) {
			hop->at.thread = page_thread_in(around->model, hop->at.thread);
		}
	}
	return true;
}
