/* SPDX-License-Identifier: Apache-2.0 */
/* The strips of CPUs as data of the page; see page_cpus.c. */
#include <stdlib.h>

#include "report/page/page_cpus_internal.h"

/* Each: [name, tid, is it of a traced program] */
static void put_threads(struct page_cpus *cpus)
{
	struct json_text *json = &cpus->page->json;

	json_text_open(json, "threads", '[');
	for (unsigned i = 0; i < cpus->thread_count; i++) {
		json_text_open(json, NULL, '[');
		json_text_string(json, NULL, cpus->thread[i]->name);
		json_text_i64(json, NULL, cpus->thread[i]->tid);
		json_text_u64(json, NULL, cpus->thread[i]->is_own);
		json_text_close(json, ']');
	}
	json_text_close(json, ']');
}

/* Each: [column, own, other, waited, thread, ns, ...] */
static void put_column(struct json_text *json, unsigned at, const struct cpus_column *column)
{
	if (!column->own_ns && !column->other_ns && !column->waited_ns)
		return;
	json_text_open(json, NULL, '[');
	json_text_u64(json, NULL, at);
	json_text_i64(json, NULL, column->own_ns);
	json_text_i64(json, NULL, column->other_ns);
	json_text_i64(json, NULL, column->waited_ns);
	for (unsigned i = 0; i < CPUS_MOST && column->most[i].thread; i++) {
		json_text_u64(json, NULL, column->most[i].thread - 1);
		json_text_i64(json, NULL, column->most[i].ns);
	}
	json_text_close(json, ']');
}

static int by_number(const void *a, const void *b)
{
	const struct cpus_cpu *x = *(const struct cpus_cpu *const *)a;
	const struct cpus_cpu *y = *(const struct cpus_cpu *const *)b;

	return x->host != y->host ? (x->host > y->host) - (x->host < y->host)
				  : x->number - y->number;
}

/* For how long one thread waited, two, three ... */
static void put_queue(struct json_text *json, const struct page_queue *queue)
{
	uint32_t levels = queue->levels;

	while (levels && !queue->ns[levels - 1])
		levels--;
	json_text_open(json, "queue", '[');
	for (uint32_t i = 1; i < levels; i++)
		json_text_i64(json, NULL, queue->ns[i]);
	json_text_close(json, ']');
}

static const char *hostname_of(const struct page_cpus *cpus, uint32_t host)
{
	const struct kymo_ctf_reader *reader = cpus->page->report->reader;

	for (unsigned i = 0; i < kymo_ctf_trace_count(reader); i++)
		if (sched_trace_host(cpus->sched, i) == host)
			return kymo_ctf_trace(reader, i)->hostname;
	return "";
}

static void put_strips(struct page_cpus *cpus)
{
	struct json_text *json = &cpus->page->json;
	const struct map_slot *slot;
	struct cpus_cpu *cpu[CPUS_MAX];
	unsigned count = 0;
	size_t at = 0;

	while ((slot = map_next(&cpus->cpus, &at)) && count < CPUS_MAX)
		cpu[count++] = slot->value;
	qsort(cpu, count, sizeof(*cpu), by_number);
	json_text_open(json, "cpus", '[');
	for (unsigned i = 0; i < count; i++) {
		json_text_open(json, NULL, '{');
		json_text_i64(json, "number", cpu[i]->number);
		json_text_u64(json, "host", cpu[i]->host);
		json_text_string(json, "hostname", hostname_of(cpus, cpu[i]->host));
		put_queue(json, &cpu[i]->queue);
		json_text_open(json, "columns", '[');
		for (unsigned k = 0; k < CPUS_COLUMNS; k++)
			put_column(json, k, &cpu[i]->column[k]);
		json_text_close(json, ']');
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

void page_put_cpus(struct page_cpus *cpus)
{
	struct page *page = cpus->page;

	page_cpus_end(cpus);
	json_text_open(&page->json, "cpus", '{');
	page_put_time(page, "begin", cpus->begin_ns);
	json_text_i64(&page->json, "width", cpus->width_ns);
	put_threads(cpus);
	put_strips(cpus);
	page_put_distribution(page, "wait", &cpus->wait);
	json_text_close(&page->json, '}');
	page->failed |= cpus->failed;
}
