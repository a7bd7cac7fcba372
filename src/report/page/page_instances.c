/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worst instances of a page with what the threads around them did.
 *
 * Which instances are the worst is known when the trace has been read, so it is read once more,
 * with a model of its own that only keeps the runs around them. Threads and callbacks of the first
 * model are found in the second one by what they are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/page/page_cpus.h"

#define OF_CHAINS (PAGE_INSTANCES / 2)
#define MARGIN_LEAST_NS 500000
#define LONGEST_NS INT64_C(20000000000) /* a longer instance has no picture: it is a pause */

struct candidate {
	int number; /* of its entity */
	bool is_chain;
	bool is_fired; /* it fired the trigger of the snapshot */
	int64_t excess_ns;
	struct why_instance instance;
	struct why_window window;
};

struct around {
	struct page *page;
	struct candidate candidate[PAGE_INSTANCES];
	unsigned count;
	struct passes passes, cpu_passes;
	struct model *model; /* the second one */
	struct why_others *others;
	struct why_cpu *cpu; /* NULL: the trace has no kernel events */
	struct page_cpus *cpus; /* the same */
	const void *fired;   /* the path or callback whose instance fired; NULL: none is known */
};

/* ---- which ---- */

/* Keep the ones farthest above the usual, at most @most of a kind. */
static void keep(struct around *around, struct candidate *new, unsigned most)
{
	unsigned of_kind = 0, last = UINT32_MAX;

	for (unsigned i = 0; i < around->count; i++) {
		const struct candidate *old = &around->candidate[i];

		if (old->is_chain != new->is_chain)
			continue;
		of_kind++;
		if (last == UINT32_MAX || old->excess_ns < around->candidate[last].excess_ns)
			last = i;
	}
	if (of_kind < most) {
		around->candidate[around->count++] = *new;
	} else if (around->candidate[last].excess_ns < new->excess_ns) {
		why_free(&around->candidate[last].instance);
		around->candidate[last] = *new;
	} else {
		why_free(&new->instance);
	}
}

static int64_t excess(const struct histogram *total)
{
	return (int64_t)total->max - (int64_t)histogram_quantile(total, 0.5);
}

static bool is_startup(const struct page *page, int number)
{
	return number < 0 || page->summary->entity[number]->is_startup;
}

static void choose_chains(struct around *around)
{
	struct page *page = around->page;
	const struct chains *chains = page->report->chains;
	char name[4096];

	for (unsigned i = 0; i < chains_path_count(chains); i++) {
		const struct chains_path *path = chains_path(chains, i);
		struct candidate new = { .is_chain = true };

		if (!path->stats || !path->stats->worst_count || !path->stats->worst[0].hop ||
		    !chains_is_chain(chains, path))
			continue;
		chains_label(path, name, sizeof(name));
		new.number = page_number(page, SUMMARY_CHAIN, name, "");
		new.is_fired = around->fired == path;
		new.excess_ns = new.is_fired ? INT64_MAX : excess(&path->stats->total);
		if (is_startup(page, new.number))
			continue;
		if (why_of_arrival(&new.instance, path, new.is_fired ? &path->stats->at : &path->stats->worst[0]))
			page->failed = true;
		else
			keep(around, &new, OF_CHAINS);
	}
}

static void choose_callbacks(struct around *around)
{
	struct page *page = around->page;
	const struct model *model = page->report->model;
	char name[512];

	for (unsigned i = 0; i < model_count(model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(model, i);
		const struct why_callback *runs = why_callback(page->report->callbacks, i);
		struct candidate new = { .is_chain = false };

		if (!runs || !runs->worst_count)
			continue;
		summary_callback_name(callback, name, sizeof(name));
		new.number = page_number(page, SUMMARY_CALLBACK, name, callback->process->name);
		new.is_fired = around->fired == callback;
		new.excess_ns = new.is_fired ? INT64_MAX : excess(&runs->total);
		if (is_startup(page, new.number) ||
		    page->summary->entity[new.number]->is_other_clock)
			continue;
		if (why_of_run(&new.instance, new.is_fired ? &runs->at : &runs->worst[0]))
			page->failed = true;
		else
			keep(around, &new, PAGE_INSTANCES - OF_CHAINS);
	}
}

static int by_excess(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->excess_ns != y->excess_ns)
		return x->excess_ns < y->excess_ns ? 1 : -1;
	return x->number - y->number;
}

/* ---- the second pass ---- */

static unsigned windows_of(struct around *around, struct why_window window[PAGE_INSTANCES])
{
	unsigned windows = 0;

	for (unsigned i = 0; i < around->count; i++) {
		struct candidate *c = &around->candidate[i];
		int64_t margin_ns = c->instance.total_ns / 10;

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

static int read_runs(struct around *around, const struct why_window *window, unsigned windows)
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
static int read_cpus(struct around *around, const struct why_window *window, unsigned windows)
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

static int read_again(struct around *around)
{
	struct page *page = around->page;
	struct why_window window[PAGE_INSTANCES];
	const unsigned windows = windows_of(around, window);

	if (windows && read_runs(around, window, windows))
		return -1;
	return sched_is_there(page->report->reader) && page->summary->events
		       ? read_cpus(around, window, windows)
		       : 0;
}

static bool is_same_process(const struct model_process *a, const struct model_process *b)
{
	return a->pid == b->pid && a->host == b->host;
}

static const struct model_thread *thread_in(const struct model *model,
					    const struct model_thread *thread)
{
	for (unsigned i = 0; thread && i < model_count(model, MODEL_THREAD); i++) {
		const struct model_thread *other = model_thread(model, i);

		if (other->tid == thread->tid && is_same_process(other->process, thread->process))
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
		    is_same_process(other->process, callback->process))
			return other;
	}
	return NULL;
}

/* The instance in terms of the second model. Return: false: it does not have all of it. */
static bool move_instance(const struct around *around, struct why_instance *instance)
{
	for (unsigned i = 0; i < instance->hops; i++) {
		struct why_hop *hop = &instance->hop[i];

		if (hop->callback) {
			hop->callback = callback_in(around->model, hop->callback);
			hop->at.thread = thread_in(around->model, hop->at.thread);
			if (!hop->callback || !hop->at.thread)
				return false;
		} else if (hop->at.thread) {
			hop->at.thread = thread_in(around->model, hop->at.thread);
		}
	}
	return true;
}

/* ---- as data ---- */

static const char *hop_name(const struct why_hop *hop, char *buffer, size_t size)
{
	if (hop->callback)
		return summary_callback_name(hop->callback, buffer, size);
	return hop->publisher->topic ? hop->publisher->topic->name : "";
}

static void put_hops(struct page *page, const struct why_instance *instance)
{
	struct json_text *json = &page->json;
	char name[512];

	json_text_open(json, "hops", '[');
	for (unsigned i = 0; i < instance->hops; i++) {
		const struct why_hop *hop = &instance->hop[i];
		const struct {
			const char *key;
			int64_t ns;
		} times[] = { { "due", hop->due_ns },        { "publish", hop->at.publish_ns },
			      { "send", hop->at.send_ns },   { "take", hop->at.take_ns },
			      { "start", hop->at.start_ns }, { "end", hop->at.end_ns } };

		json_text_open(json, NULL, '{');
		json_text_string(json, "name", hop_name(hop, name, sizeof(name)));
		if (hop->publisher)
			json_text_bool(json, "topic", true);
		if (hop->at.thread)
			json_text_u64(json, "thread", hop->at.thread->index);
		for (unsigned k = 0; k < COUNT_OF(times); k++)
			if (times[k].ns > 0)
				page_put_time(page, times[k].key, times[k].ns);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

static void put_part(struct page *page, const struct why_instance *instance,
		     const struct why_part *part)
{
	struct json_text *json = &page->json;
	const int64_t error_ns = why_part_error(instance, part);
	char name[512];

	json_text_open(json, NULL, '{');
	json_text_string(json, "kind", why_kind_name(part->kind));
	json_text_u64(json, "hop", part->hop);
	if (part->callback)
		json_text_string(json, "callback",
				 summary_callback_name(part->callback, name, sizeof(name)));
	if (part->thread)
		json_text_u64(json, "thread", part->thread->index);
	if (part->kind == WHY_PREEMPTED || part->kind == WHY_BLOCKED) {
		page_put_text(page, "by", part->by);
		json_text_i64(json, "by_tid", part->by_tid);
		page_put_text(page, "call", part->call);
	}
	if (part->is_group)
		json_text_bool(json, "group", true);
	if (part->is_assumed)
		json_text_bool(json, "assumed", true);
	page_put_time(page, "begin", part->begin_ns);
	json_text_i64(json, "ns", part->ns);
	json_text_u64(json, "pieces", part->pieces);
	if (part->faults)
		json_text_u64(json, "faults", part->faults);
	if (error_ns)
		json_text_i64(json, "error", error_ns);
	json_text_close(json, '}');
}

static void put_parts(struct page *page, const char *key, const struct why_instance *instance,
		      const struct why_parts *parts)
{
	json_text_open(&page->json, key, '[');
	for (unsigned i = 0; i < parts->count; i++)
		put_part(page, instance, &parts->part[i]);
	json_text_close(&page->json, ']');
}

static bool is_in(const struct candidate *c, const struct why_other *run)
{
	return run->start_ns < c->window.end_ns && run->end_ns > c->window.begin_ns;
}

/* Runs of other processes than those of the instance are not part of its picture. */
static bool is_near(const struct candidate *c, const struct model_process *process)
{
	for (unsigned i = 0; i < c->instance.hops; i++)
		if (c->instance.hop[i].at.thread &&
		    is_same_process(c->instance.hop[i].at.thread->process, process))
			return true;
	return false;
}

/* The shortest runs that are shown, so that there are not too many. */
static int64_t shortest(const struct around *around, const struct candidate *c)
{
	const struct why_other *run;
	int64_t least_ns = 0;
	unsigned count;

	do {
		count = 0;
		for (unsigned i = 0; (run = why_other(around->others, i)); i++)
			count += is_in(c, run) && run->end_ns - run->start_ns >= least_ns &&
				 is_near(c, run->thread->process);
		if (count > PAGE_INSTANCE_RUNS)
			least_ns = least_ns ? 2 * least_ns : 1000;
	} while (count > PAGE_INSTANCE_RUNS);
	return least_ns;
}

/* Each run: [thread, entity, start, length] */
static void put_runs(const struct around *around, const struct candidate *c)
{
	struct page *page = around->page;
	const int64_t least_ns = shortest(around, c);
	const struct why_other *run;
	char name[512];

	if (least_ns)
		json_text_i64(&page->json, "shortest", least_ns);
	json_text_open(&page->json, "runs", '[');
	for (unsigned i = 0; (run = why_other(around->others, i)); i++) {
		if (!is_in(c, run) || run->end_ns - run->start_ns < least_ns ||
		    !is_near(c, run->thread->process))
			continue;
		summary_callback_name(run->callback, name, sizeof(name));
		json_text_open(&page->json, NULL, '[');
		json_text_u64(&page->json, NULL, run->thread->index);
		json_text_i64(
			&page->json, NULL,
			page_number(page, SUMMARY_CALLBACK, name, run->callback->process->name));
		page_put_time(page, NULL, run->start_ns);
		json_text_i64(&page->json, NULL, run->end_ns - run->start_ns);
		json_text_close(&page->json, ']');
	}
	json_text_close(&page->json, ']');
}

struct spells {
	struct page *page;
	uint32_t thread;
};

/* Each: [thread, state, start, length, by] */
static void on_spell(void *context, const struct why_spell *spell)
{
	struct spells *to = context;
	struct json_text *json = &to->page->json;

	if (spell->state != WHY_READY)
		return;
	json_text_open(json, NULL, '[');
	json_text_u64(json, NULL, to->thread);
	page_put_time(to->page, NULL, spell->from_ns);
	json_text_i64(json, NULL, spell->to_ns - spell->from_ns);
	json_text_string(json, NULL, spell->by);
	json_text_close(json, ']');
}

/* When threads of the instance could run and did not. */
static void put_spells(const struct around *around, const struct candidate *c)
{
	struct page *page = around->page;

	if (!around->cpu)
		return;
	json_text_open(&page->json, "preempted", '[');
	for (unsigned i = 0; i < model_count(around->model, MODEL_THREAD); i++) {
		const struct model_thread *thread = model_thread(around->model, i);
		struct spells to = { page, i };

		if (is_near(c, thread->process))
			why_spells(around->cpu, thread, c->window.begin_ns, c->window.end_ns,
				   on_spell, &to);
	}
	json_text_close(&page->json, ']');
}

static void put_instance(struct around *around, struct candidate *c)
{
	struct page *page = around->page;
	struct why_parts parts = { 0 }, because = { 0 };

	if (!move_instance(around, &c->instance))
		return;
	page->failed |= why_cut(&parts, &because, &c->instance, around->others, around->cpu) != 0;
	json_text_open(&page->json, NULL, '{');
	json_text_i64(&page->json, "entity", c->number);
	if (c->is_fired)
		json_text_bool(&page->json, "fired", true);
	page_put_time(page, "begin", c->instance.begin_ns);
	json_text_i64(&page->json, "ns", c->instance.total_ns);
	page_put_time(page, "from", c->window.begin_ns);
	page_put_time(page, "to", c->window.end_ns);
	put_hops(page, &c->instance);
	put_parts(page, "parts", &c->instance, &parts);
	put_parts(page, "because", &c->instance, &because);
	put_runs(around, c);
	put_spells(around, c);
	if (around->cpus)
		page_put_slices(page,
				page_cpus_slices(around->cpus, (unsigned)(c - around->candidate)));
	json_text_close(&page->json, '}');
	why_parts_free(&parts);
	why_parts_free(&because);
}

static void put_threads(struct around *around)
{
	struct json_text *json = &around->page->json;

	json_text_open(json, "threads", '[');
	for (unsigned i = 0; i < model_count(around->model, MODEL_THREAD); i++) {
		const struct model_thread *thread = model_thread(around->model, i);

		json_text_open(json, NULL, '{');
		json_text_string(json, "process", thread->process->name);
		json_text_string(json, "name", thread->name);
		json_text_i64(json, "tid", thread->tid);
		json_text_i64(json, "pid", thread->process->pid);
		page_put_text(around->page, "host", thread->process->hostname);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

static void drop_longest(struct around *around)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < around->count; i++) {
		if (around->candidate[i].instance.total_ns > LONGEST_NS)
			why_free(&around->candidate[i].instance);
		else
			around->candidate[kept++] = around->candidate[i];
	}
	around->count = kept;
}

int page_put_instances(struct page *page)
{
	struct around *around = calloc(1, sizeof(*around));
	int status;

	if (!around)
		return err_no_memory(page->report->err);
	around->page = page;
	around->fired = page_fired(page);
	choose_chains(around);
	choose_callbacks(around);
	drop_longest(around);
	if (around->count)
		qsort(around->candidate, around->count, sizeof(*around->candidate), by_excess);
	status = read_again(around);
	if (!status && around->count) {
		put_threads(around);
		json_text_open(&page->json, "instances", '[');
		for (unsigned i = 0; i < around->count; i++)
			put_instance(around, &around->candidate[i]);
		json_text_close(&page->json, ']');
	}
	if (!status && around->cpus)
		page_put_cpus(around->cpus);
	page_cpus_destroy(around->cpus);
	for (unsigned i = 0; i < around->count; i++)
		why_free(&around->candidate[i].instance);
	passes_free(&around->cpu_passes);
	passes_free(&around->passes);
	free(around);
	return status;
}
