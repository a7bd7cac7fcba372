/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo filter`: shows and changes the rules of the active recorder. */
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "cli/common/ask.h"
#include "cli/common/common.h"
#include "cli/input/record_options.h"
#include "recorder/control/control.h"

#define ASK_MS 60000	/* the recorder writes everything that is committed first */

struct options {
	struct filter_wishes filter;
	int format;
	bool quiet;
};

static const struct opt opts[] = { FILTER_OPTS(struct options, filter),
				   CLI_OPT_FORMAT(struct options), CLI_OPT_SCREEN(0),
				   CLI_OPT_QUIET(struct options), CLI_OPT_END };

/* ---- asking ---- */

static struct json_object *request_of(const char *what, const struct filter_rules *rules)
{
	struct json_object *request = json_object_new_object(), *array = json_object_new_array();
	char text[FILTER_TEXT_MAX];

	for (unsigned i = 0; i < rules->count; i++)
		json_object_array_add(
			array, json_object_new_string(filter_rule_text(&rules->rule[i], text)));
	json_object_object_add(request, "request", json_object_new_string("filter"));
	json_object_object_add(request, "do", json_object_new_string(what));
	json_object_object_add(request, "rules", array);
	return request;
}

static int ask(const char *what, const struct filter_rules *rules, struct json_object **reply,
	       struct kymo_err *err)
{
	struct json_object *request;
	struct domain_info info;
	struct rundir dir;
	int rc;

	if (ask_open(&dir, &info, err) < 0)
		return -1;
	request = request_of(what, rules);
	rc = control_ask(&dir, request, ASK_MS, reply, err);
	json_object_put(request);
	if (rc == 1)
		rc = err_set(err, KYMO_EXIT_FAILED, "cannot ask process %d: it records, but does not answer; a program that records itself has "
			     "no filter", info.pid);
	rundir_close(&dir);
	return rc;
}

/* ---- the answer ---- */

static struct json_object *array_of(struct json_object *object, const char *key, size_t *count)
{
	struct json_object *array = json_get(object, key);

	*count = json_length(array);
	return array;
}

static void show_rules(struct table *table, struct json_object *reply)
{
	static const struct table_column columns[] = { { "kind", "KIND" }, { "rule", "RULE" } };
	size_t count;
	struct json_object *array = array_of(reply, "rules", &count);

	table_section(table, "rules", "Rules", columns, 2);
	for (size_t i = 0; i < count; i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(array, i));
		char kind[16] = "";
		int behind = 0;

		if (!text || sscanf(text, "%15s %n", kind, &behind) != 1)
			continue;
		table_text(table, kind);
		table_text(table, text + behind);
	}
	if (!count)
		table_note(table, "everything is recorded, except for what programs' own environments leave out");
	if (json_get_u64(reply, "rules_more"))
		table_note(table, "... and %u more", (unsigned)json_get_u64(reply, "rules_more"));
}

static void show_programs(struct table *table, struct json_object *reply, bool people)
{
	static const struct table_column columns[] = {
		{ "pid", "PID" }, { "name", "NAME" }, { "recorded", "RECORDED" }, { "rules", "RULES OF ITS ENVIRONMENT" },
	};
	size_t count;
	struct json_object *array = array_of(reply, "programs", &count);

	if (people && !count)
		return;
	table_section(table, "programs", "Programs", columns, 4);
	for (size_t i = 0; i < count; i++) {
		struct json_object *program = json_object_array_get_idx(array, i);

		table_u64(table, json_get_u64(program, "pid"));
		table_text(table, json_get_text(program, "name"));
		table_text(table, json_object_get_boolean(json_get(program, "wanted")) ? "yes" : "no");
		table_text(table, json_get_text(program, "rules"));
	}
}

static int show(struct json_object *reply, const struct options *options)
{
	struct table *table;

	if (cli_table("filter", options->format, &table))
		return KYMO_EXIT_FAILED;
	table_value_u64(table, "recorded", "Recorded", json_get_u64(reply, "recorded"));
	table_value_u64(table, "filtered", "Left out by the recorder", json_get_u64(reply, "filtered"));
	table_value_u64(table, "left_out", "Objects left out", json_get_u64(reply, "left_out"));
	show_rules(table, reply);
	show_programs(table, reply, options->format == TABLE_TEXT);
	return cli_close("filter", table, KYMO_EXIT_OK);
}

/* ---- the verb ---- */

static int parse(int argc, char **argv, struct options *options, const char **what,
		 struct filter_rules *rules, struct kymo_err *err)
{
	bool takes_rules;

	if (opt_parse(opts, options, &argc, &argv, NULL, err) < 0 ||
	    filter_wish(&options->filter, rules, err) < 0)
		return -1;
	*what = argc ? argv[0] : "show";
	takes_rules = strcmp(*what, "set") == 0 || strcmp(*what, "add") == 0;
	if (!takes_rules && strcmp(*what, "show") != 0 && strcmp(*what, "clear") != 0)
		return err_set(err, KYMO_EXIT_USAGE, "unknown word '%s'; write show, set, add or clear", *what);
	if (argc > 1)
		return err_set(err, KYMO_EXIT_USAGE, "unexpected operand '%s'; write rules as options: --node, --topic, --process, --event, --category, "
			       "--filter-file", argv[1]);
	if (takes_rules != (rules->count > 0))
		return err_set(err, KYMO_EXIT_USAGE, takes_rules ? "kymo filter %s requires a rule, such as --topic '!/rosout'; \"kymo "
			       "filter clear\" removes all" : "kymo filter %s accepts no rules; \"kymo filter add\" does", *what);
	return 0;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct json_object *reply = NULL;
	struct filter_rules rules = { 0 };
	struct options options = { 0 };
	const char *what = "";
	int status = -1;

	if (parse(argc, argv, &options, &what, &rules, err) == 0 &&
	    ask(what, &rules, &reply, err) == 0)
		status = options.quiet ? KYMO_EXIT_OK : show(reply, &options);
	json_object_put(reply);
	filter_rules_free(&rules);
	return status;
}

const struct verb verb_filter = {
	.name = "filter",
	.synopsis = "[show|set|add|clear]",
	.summary = "show or change what the active recorder records",
	.description =
		"Shows the rules of the running \"kymo record\", or changes them while it records: set replaces "
		"them, add adds to them, clear removes all. Events from before the verb returns are recorded by "
		"the old or the new rules, later events by the new rules.\n\n"
		"A rule is a glob for names of one kind, such as nodes. '!GLOB' leaves out what matches. If all "
		"rules of a kind leave something out, everything else is recorded; if others exist, only what one "
		"of them matches. Rules of several kinds apply together. The facts of the start (nodes, topics, "
		"callbacks) are always recorded.\n\n"
		"Rules that programs have in their environment (KYMO_FILTER, or CARET's CARET_IGNORE_NODES and so "
		"on) are shown; this verb does not change them.",
	.examples =
		"kymo filter\n"
		"kymo filter set --node '/perception/*' --topic '!/rosout'\n"
		"kymo filter add --event '!rclcpp_executor_*'\n"
		"kymo filter clear\n",
	.opts = opts,
	.run = run,
};
