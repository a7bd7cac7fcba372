/* SPDX-License-Identifier: Apache-2.0 */
/* See compare_page.h. The data of a page is one JSON object, which page/compare.js reads. */
#include "compare/compare_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "base/json_text.h"
#include "compare/compare_words.h"
#include "page/page_file.h"

/* Made by the build. */
extern const unsigned char compare_page_script[];
extern const unsigned long compare_page_script_size;

struct pages {
	const struct compare_page *page;
	const struct comparison *comparison;
	struct json_text json;
};

/* ---- the same tables as --format json --values ---- */

/* Return: false without memory. */
static bool put_tables(struct pages *p)
{
	const struct compare_page *page = p->page;
	struct table *table = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	bool done = stream && !table_open(&table, stream, TABLE_JSON);

	if (done) {
		compare_print_table(table, p->comparison, page->print);
		compare_print_plot(table, p->comparison, page->print, page->base.run,
				   page->new.run);
		done = table_close(table) == 0;
	}
	if (stream)
		done = fclose(stream) == 0 && done;
	if (done) {
		/* The text of an array is already JSON. */
		json_text_open(&p->json, "tables", '[');
		json_text_raw(&p->json, text, size);
		p->json.inside = true;
		json_text_close(&p->json, ']');
	}
	free(text);
	return done;
}

/* ---- words and limits of each metric, in the order of the table ---- */

static void put_f64(struct json_text *json, const char *key, double value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%.6g", value);
	json_text_plain(json, key, text);
}

static void put_segments(struct json_text *json, const struct compare_row *row)
{
	json_text_open(json, "segments", '[');
	for (unsigned i = 0; i < row->segments; i++) {
		const struct compare_segment *segment = &row->segment[i];

		json_text_open(json, NULL, '{');
		json_text_string(json, "what", summary_what_name(segment->what));
		json_text_string(json, "who", segment->who);
		json_text_string(json, "by", segment->by);
		json_text_i64(json, "base", (int64_t)(segment->base + 0.5));
		json_text_i64(json, "new", (int64_t)(segment->new + 0.5));
		json_text_bool(json, "part", segment == row->part);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

static const char *label_of(const struct summary_entity *entity)
{
	return *entity->label ? entity->label : entity->name;
}

/* "3 x /drone timer 10 ms", of several of one name. */
static void put_label(struct json_text *json, const char *key, const struct summary_entity *entity,
		      unsigned alike)
{
	char text[2048];

	if (alike > 1)
		(void)snprintf(text, sizeof(text), "%u x %s", alike, label_of(entity));
	json_text_string(json, key, alike > 1 ? text : label_of(entity));
}

static void put_row(struct pages *p, const struct compare_row *row)
{
	const struct compare_options *options = p->page->print->options;
	char base[TEXT_QUANTITY_MAX], new[TEXT_QUANTITY_MAX], change[COMPARE_CHANGE_MAX],
		more[COMPARE_CHANGE_MAX], part[COMPARE_PART_MAX];
	struct json_text *json = &p->json;

	json_text_open(json, NULL, '{');
	put_label(json, "label", row->entity, row->new_alike);
	json_text_string(json, "ask", row->entity->ask);
	put_f64(json, "limit", expm1(compare_limit(options, row)));
	json_text_bool(json, "is_less_worse", row->is_less_worse);
	json_text_string(json, "base", compare_value(base, row->unit, row->base));
	json_text_string(json, "new", compare_value(new, row->unit, row->new));
	json_text_string(json, "change", compare_change(change, row));
	if (row->part && row->verdict.verdict == VERDICT_WORSE)
		json_text_string(json, "part", compare_part(part, row));
	if (row->verdict.verdict == VERDICT_UNKNOWN && options->design.bases > 1)
		json_text_string(json, "more", compare_more(more, row, &options->design));
	if (row->segments)
		put_segments(json, row);
	json_text_close(json, '}');
}

static void put_labels(struct json_text *json, const char *key,
		       const struct summary_entity *const *entity, unsigned count)
{
	json_text_open(json, key, '[');
	for (unsigned i = 0; i < count; i++)
		put_label(json, NULL, entity[i], entity[i]->alike);
	json_text_close(json, ']');
}

/* ---- the runs ---- */

static void put_side(struct pages *p, const char *key, const char *name,
		     const struct compare_page_side *side, unsigned runs)
{
	struct json_text *json = &p->json;

	json_text_open(json, key, '{');
	json_text_string(json, "name", name);
	json_text_open(json, "paths", '[');
	for (unsigned i = 0; i < side->paths; i++)
		json_text_string(json, NULL, side->path[i]);
	json_text_close(json, ']');
	json_text_open(json, "runs", '[');
	for (unsigned i = 0; i < runs; i++) {
		const struct summary *run = side->run[i];
		const int64_t ns = run->end_ns - run->begin_ns;

		json_text_open(json, NULL, '{');
		json_text_string(json, "host", run->host ? run->host : "");
		json_text_u64(json, "events", run->events);
		json_text_u64(json, "lost", run->trust.lost_events);
		json_text_i64(json, "ns", ns > 0 ? ns : 0);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
	json_text_open(json, "machine", '{');
	for (unsigned part = 0; runs && part < MACHINE_PARTS; part++)
		if (side->run[0]->machine[part] && *side->run[0]->machine[part])
			json_text_string(json, accounts_machine_name((enum accounts_machine)part),
					 side->run[0]->machine[part]);
	json_text_close(json, '}');
	json_text_close(json, '}');
}

static bool gather(struct pages *p)
{
	const struct compare_page *page = p->page;
	const struct comparison *comparison = p->comparison;
	const struct change_design *design = &page->print->options->design;
	struct json_text *json = &p->json;

	json_text_open(json, NULL, '{');
	json_text_i64(json, "kymo_compare", 1);
	json_text_string(json, "made_by", page->version ? page->version : "");
	json_text_string(json, "command", page->command ? page->command : "");
	put_side(p, "base", page->print->base, &page->base, design->bases);
	put_side(p, "new", page->print->new, &page->new, design->news);
	json_text_open(json, "rows", '[');
	for (unsigned i = 0; i < comparison->rows; i++)
		put_row(p, &comparison->row[i]);
	json_text_close(json, ']');
	put_labels(json, "appeared", comparison->appeared, comparison->appeareds);
	put_labels(json, "gone", comparison->gone, comparison->gones);
	if (!put_tables(p))
		return false;
	json_text_close(json, '}');
	return !json->failed;
}

/* ---- the file ---- */

/* Before any script runs it is what the terminal would show. */
static void put_lead(FILE *out, const void *context)
{
	const struct pages *p = context;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (stream) {
		compare_print_text(stream, p->comparison, p->page->print);
		(void)fclose(stream);
	}
	page_put_element(out, "<header class=bar><h1>", p->page->print->base, " → ");
	page_put_element(out, "", p->page->print->new, "</h1></header>\n<main>\n");
	fputs("<pre>\n", out);
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		page_put_element(out, "", line, "\n");
	fputs("</pre>\n</main>\n", out);
	free(text);
}

int compare_page_write(const struct compare_page *page, const struct comparison *comparison,
		       const char *path, FILE *stream, struct kymo_err *err)
{
	struct pages p = { .page = page, .comparison = comparison, .json = { .one_line = true } };
	char title[256];
	const struct page_file file = { .title = title,
					.data = &p.json,
					.script = compare_page_script,
					.script_size = compare_page_script_size,
					.put_lead = put_lead,
					.context = &p };
	int status;

	(void)snprintf(title, sizeof(title), "%s → %s", page->print->base, page->print->new);
	status = gather(&p) ? page_file_write(&file, path, stream, err) : err_no_memory(err);
	free(p.json.text);
	return status;
}
