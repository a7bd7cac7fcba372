/* SPDX-License-Identifier: Apache-2.0 */
/* An instance of the page as data: its hops, the parts of its time, and what the threads around it
 * did. */
#include "base/array.h"
#include "report/page/page_instances_internal.h"

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
		json_text_flag(json, "topic", hop->publisher);
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
	if (part->kind == WHY_PREEMPTED || part->kind == WHY_BLOCKED || part->kind == WHY_GIL) {
		page_put_text(page, "by", part->by);
		json_text_i64(json, "by_tid", part->by_tid);
		page_put_text(page, "call", part->call);
	}
	if (part->kind == WHY_AWAITED)
		page_put_text(page, "awaited",
			      model_awaited_text(&part->await, name, sizeof(name)));
	json_text_flag(json, "group", part->is_group);
	json_text_flag(json, "assumed", part->is_assumed);
	page_put_time(page, "begin", part->begin_ns);
	json_text_i64(json, "ns", part->ns);
	json_text_u64(json, "pieces", part->pieces);
	json_text_some_u64(json, "faults", part->faults);
	json_text_some_i64(json, "error", error_ns);
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

static bool is_in(const struct page_candidate *c, const struct why_other *run)
{
	return run->start_ns < c->window.end_ns && run->end_ns > c->window.begin_ns;
}

static bool is_queued_behind(const struct why_parts *parts, const struct model_thread *thread)
{
	for (unsigned i = 0; i < parts->count; i++)
		if (parts->part[i].kind == WHY_QUEUED && parts->part[i].thread == thread)
			return true;
	return false;
}

/* Runs of other processes than those of the instance are not part of its picture; and of an
 * executor, only its own threads, and those that held it up. */
static bool is_near(const struct page_around *around, const struct page_candidate *c,
		    const struct why_parts *parts, const struct model_thread *thread)
{
	const struct model_process *process = thread->process;

	if (c->executor >= 0)
		return around->executor[thread->index] == c->executor ||
		       is_queued_behind(parts, thread);
	for (unsigned i = 0; i < c->instance.hops; i++)
		if (c->instance.hop[i].at.thread &&
		    page_is_same_process(c->instance.hop[i].at.thread->process, process))
			return true;
	return false;
}

/* The shortest runs that are shown, so that there are not too many. */
static int64_t shortest(const struct page_around *around, const struct page_candidate *c,
			const struct why_parts *parts)
{
	const unsigned most = c->executor < 0 ? PAGE_INSTANCE_RUNS : PAGE_INSTANCE_RUNS / 2;
	const struct why_other *run;
	int64_t least_ns = 0;
	unsigned count;

	do {
		count = 0;
		for (unsigned i = 0; (run = why_other(around->others, i)); i++)
			count += is_in(c, run) && run->end_ns - run->start_ns >= least_ns &&
				 is_near(around, c, parts, run->thread);
		if (count > most)
			least_ns = least_ns ? 2 * least_ns : 1000;
	} while (count > most);
	return least_ns;
}

/* Each run: [thread, entity, start, length] */
static void put_runs(const struct page_around *around, const struct page_candidate *c,
		     const struct why_parts *parts)
{
	struct page *page = around->page;
	const int64_t least_ns = shortest(around, c, parts);
	const struct why_other *run;

	json_text_some_i64(&page->json, "shortest", least_ns);
	json_text_open(&page->json, "runs", '[');
	for (unsigned i = 0; (run = why_other(around->others, i)); i++) {
		if (!is_in(c, run) || run->end_ns - run->start_ns < least_ns ||
		    !is_near(around, c, parts, run->thread))
			continue;
		json_text_open(&page->json, NULL, '[');
		json_text_u64(&page->json, NULL, run->thread->index);
		json_text_i64(&page->json, NULL, page_callback_number(page, run->callback));
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
static void put_spells(const struct page_around *around, const struct page_candidate *c,
		       const struct why_parts *parts)
{
	struct page *page = around->page;

	if (!around->cpu)
		return;
	json_text_open(&page->json, "preempted", '[');
	for (unsigned i = 0; i < model_count(around->model, MODEL_THREAD); i++) {
		const struct model_thread *thread = model_thread(around->model, i);
		struct spells to = { page, i };

		if (is_near(around, c, parts, thread))
			why_spells(around->cpu, thread, c->window.begin_ns, c->window.end_ns,
				   on_spell, &to);
	}
	json_text_close(&page->json, ']');
}

void page_put_instance(const struct page_around *around, struct page_candidate *c)
{
	struct page *page = around->page;
	struct why_parts parts = { 0 }, because = { 0 };

	if (!page_move_instance(around, &c->instance))
		return;
	page->failed |= why_cut(&parts, &because, &c->instance, around->others, around->cpu) != 0;
	json_text_open(&page->json, NULL, '{');
	json_text_i64(&page->json, "entity", c->number);
	json_text_flag(&page->json, "fired", c->is_fired);
	page_put_time(page, "begin", c->instance.begin_ns);
	json_text_i64(&page->json, "ns", c->instance.total_ns);
	page_put_time(page, "from", c->window.begin_ns);
	page_put_time(page, "to", c->window.end_ns);
	put_hops(page, &c->instance);
	put_parts(page, "parts", &c->instance, &parts);
	put_parts(page, "because", &c->instance, &because);
	put_runs(around, c, &parts);
	put_spells(around, c, &parts);
	if (around->cpus)
		page_put_slices(page,
				page_cpus_slices(around->cpus, (unsigned)(c - around->candidate)));
	json_text_close(&page->json, '}');
	why_parts_free(&parts);
	why_parts_free(&because);
}

void page_put_threads(const struct page_around *around)
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
