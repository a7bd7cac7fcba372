/* SPDX-License-Identifier: Apache-2.0 */
/* The entities of the summary and its findings, as a page has them: the numbers that are shown are
 * those of the report, to the nanosecond; the buckets beside them are coarse. */
#include <stdio.h>

#include "report/page/page_internal.h"
#include "summary/findings.h"
#include "summary/summary_file.h"

static void put_distribution(struct page *page, const char *key, const struct histogram *h,
			     uint64_t steady_ns)
{
	struct json_text *json = &page->json;

	if (!h->count)
		return;
	json_text_open(json, key, '{');
	json_text_u64(json, "count", h->count);
	json_text_u64(json, "sum", h->sum);
	json_text_u64(json, "min", h->min);
	json_text_u64(json, "p50", histogram_quantile(h, 0.5));
	json_text_u64(json, "p90", histogram_quantile(h, 0.9));
	json_text_u64(json, "p99", histogram_quantile(h, 0.99));
	json_text_u64(json, "max", h->max);
	if (steady_ns && steady_ns < h->max)
		json_text_u64(json, "steady", steady_ns);
	summary_put_buckets(json, h);
	json_text_close(json, '}');
}

void page_put_distribution(struct page *page, const char *key, const struct histogram *h)
{
	put_distribution(page, key, h, 0);
}

/* The largest value, if start-up has a larger one; else 0. */
static uint64_t steady_below(const struct summary_entity *entity, enum summary_distribution which)
{
	const struct summary_startup *startup = entity->startup;

	return startup && startup->histogram[which].count ? summary_steady_max(entity, which) : 0;
}

static void put_part(struct page *page, const struct summary_part *part)
{
	struct json_text *json = &page->json;

	json_text_open(json, NULL, '{');
	summary_put_part(json, part);
	json_text_some_i64(json, "usual", part->usual_ns);
	json_text_close(json, '}');
}

/* Of a trace, page_chains.c and page_instances.c know more of them. Start-up comes last, and a page
 * has it only if there is nothing else. */
static void put_worst(struct page *page, const struct summary_entity *entity)
{
	struct json_text *json = &page->json;

	if (!page->is_file || !entity->worsts)
		return;
	json_text_open(json, "worst", '[');
	for (unsigned i = 0; i < entity->worsts; i++) {
		const struct summary_instance *instance = &entity->worst[i];

		if (instance->is_startup && !entity->worst->is_startup)
			break;
		json_text_open(json, NULL, '{');
		page_put_time(page, "begin", instance->begin_ns);
		json_text_i64(json, "ns", instance->value_ns);
		json_text_some_i64(json, "error", instance->error_ns);
		json_text_open(json, "parts", '[');
		for (unsigned p = 0; p < instance->parts; p++)
			put_part(page, &instance->part[p]);
		json_text_close(json, ']');
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

/* Of a trace, page_chains.c knows more of them. */
static void put_summary_segments(struct page *page, const struct summary_entity *entity)
{
	struct json_text *json = &page->json;

	if (!page->is_file || !entity->segments)
		return;
	json_text_open(json, "segments", '[');
	for (unsigned i = 0; i < entity->segments; i++) {
		const struct summary_segment *segment = &entity->segment[i];

		json_text_open(json, NULL, '{');
		json_text_string(json, "what", summary_what_name(segment->what));
		json_text_string(json, "who", segment->who);
		page_put_text(page, "by", segment->by);
		json_text_u64(json, "sum", segment->ns);
		for (unsigned q = 0; q < SUMMARY_QUANTILES; q++) {
			char key[16];

			snprintf(key, sizeof(key), "p%.0f", 100 * summary_quantile_at(q));
			if (segment->quantile[SUMMARY_QUANTILES - 1])
				json_text_u64(json, key, segment->quantile[q]);
		}
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

static void put_entity(struct page *page, const struct summary_entity *entity)
{
	struct json_text *json = &page->json;

	json_text_open(json, NULL, '{');
	json_text_string(json, "kind", summary_kind_name(entity->kind));
	json_text_string(json, "name", entity->name);
	page_put_text(page, "of", entity->of);
	if (entity->label != entity->name)
		page_put_text(page, "label", entity->label);
	page_put_text(page, "ask", entity->ask);
	json_text_some_i64(json, "period_ns", entity->period_ns);
	json_text_flag(json, "startup", entity->is_startup);
	json_text_flag(json, "other_clock", entity->is_other_clock);
	if (entity->first_ns)
		page_put_time(page, "first", entity->first_ns);
	if (entity->last_ns)
		page_put_time(page, "last", entity->last_ns);
	for (unsigned i = 0; i < SUMMARY_COUNTERS; i++)
		json_text_some_u64(&page->json, summary_counter_name(i), entity->count[i]);
	for (unsigned i = 0; i < SUMMARY_DISTRIBUTIONS; i++)
		put_distribution(page, summary_distribution_name(i), &entity->histogram[i],
				 steady_below(entity, i));
	summary_put_culprits(&page->json, entity, "worst");
	put_worst(page, entity);
	put_summary_segments(page, entity);
	json_text_close(json, '}');
}

void page_put_entities(struct page *page)
{
	json_text_open(&page->json, "entities", '[');
	for (unsigned i = 0; i < page->shown_count; i++)
		put_entity(page, page->shown[i]);
	json_text_close(&page->json, ']');
}

/* ---- findings ---- */

static void put_finding(struct page *page, const struct summary_finding *finding, bool is_first)
{
	struct json_text *json = &page->json;
	char text[2400];

	json_text_open(json, NULL, '{');
	json_text_string(json, "kind", summary_finding_kind_name(finding->kind));
	summary_finding_text(page->summary, finding, text, sizeof(text));
	json_text_string(json, "text", text);
	if (is_first && *page->cause)
		json_text_string(json, "cause", page->cause);
	if (finding->entity)
		json_text_i64(json, "entity", page_number_of(page, finding->entity));
	if (finding->at_ns) {
		page_put_time(page, "at", finding->at_ns);
		json_text_string(
			json, "at_text",
			first_at(page->summary, &page->first, finding->at_ns, text, sizeof(text)));
	}
	json_text_some_u64(&page->json, "times", finding->times);
	json_text_i64(json, "worst", finding->worst_ns);
	json_text_i64(json, "usual", finding->usual_ns);
	json_text_i64(json, "harm", finding->harm_ns);
	page_put_text(page, "command", first_command(page->summary, finding,
						     &page->first, text, sizeof(text)));
	json_text_close(json, '}');
}

void page_put_findings(struct page *page)
{
	struct summary_finding slowest;

	json_text_open(&page->json, "findings", '[');
	for (unsigned i = 0; i < page->findings; i++)
		put_finding(page, &page->finding[i], !i);
	json_text_close(&page->json, ']');
	if (!page->findings && summary_slowest(page->summary, &slowest)) {
		json_text_open(&page->json, "slowest", '{');
		json_text_i64(&page->json, "entity", page_number_of(page, slowest.entity));
		json_text_i64(&page->json, "worst", slowest.worst_ns);
		json_text_close(&page->json, '}');
	}
}
