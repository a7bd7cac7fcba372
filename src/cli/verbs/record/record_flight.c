/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/record/record_flight.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"

#define POST_NS		1000000000
#define MEMORY		(256u << 20)
#define MEMORY_MIN	(1u << 20)

/* ---- where to ---- */

/* With -o DIR: DIR/1, DIR/2, ... */
static int name_snapshot(void *context, unsigned number, char *path, unsigned size,
			 struct kymo_err *err)
{
	const struct flight_show *show = context;
	char output[CLI_PATH_MAX];

	if (show->incident)
		return record_incident_name(show->directory, path, size, err);
	if (show->output) {
		if ((unsigned)snprintf(path, size, "%s/%u", show->output, number) >= size)
			return err_set(err, KYMO_EXIT_FAILED, "the path of the trace is too long; choose a shorter one with -o");
		return 0;
	}
	if (cli_new_session(output, err) < 0)
		return -1;
	if ((unsigned)snprintf(path, size, "%s", output) >= size)
		return err_set(err, KYMO_EXIT_FAILED, "the path of the trace is too long; choose a shorter one with -o");
	return 0;
}

/* Created now, so that an unusable place is known before something happens. */
static int make_output(struct flight_show *show, struct kymo_err *err)
{
	const char *output = show->output;
	struct stat st;
	char first[PATH_MAX];

	if (!output)
		return 0;
	make_parents(output);
	show->made = mkdir(output, 0777) == 0;
	if (!show->made && (errno != EEXIST || stat(output, &st) < 0 || !S_ISDIR(st.st_mode)))
		return err_set(err, KYMO_EXIT_FAILED, "cannot create the directory %s for snapshots: %s; choose another "
			       "place with -o DIR", output, strerror(errno));
	(void)snprintf(first, sizeof first, "%s/1", output);
	if (lstat(first, &st) == 0)
		return err_set(err, KYMO_EXIT_FAILED, "%s already exists; choose another place with -o DIR", first);
	return 0;
}

/* ---- what happened ---- */

static void describe_value(const struct trigger *trigger, const struct trigger_hit *hit,
			   char *value, size_t size)
{
	char time[TEXT_QUANTITY_MAX];

	(void)text_ns(time, (int64_t)hit->value);
	switch (trigger->kind) {
	case TRIGGER_SPAN:
	case TRIGGER_CALLBACK:
	case TRIGGER_CHAIN:
	case TRIGGER_LATENCY:
		(void)snprintf(value, size, " took %s", time);
		break;
	case TRIGGER_OVERRUN:
	case TRIGGER_MISSED:
	case TRIGGER_LATE:
		(void)snprintf(value, size, " late by %s", time);
		break;
	case TRIGGER_SILENT:
		(void)snprintf(value, size, " silent for %s", time);
		break;
	case TRIGGER_RATE:
		(void)snprintf(value, size, " had %.4g messages/s", (double)hit->value / 1000);
		break;
	case TRIGGER_BUSY:
		(void)snprintf(value, size, " busy for %.3g %% of a second", (double)hit->value / 10);
		break;
	case TRIGGER_LOST:
		(void)snprintf(value, size, " lost %" PRIu64, hit->value);
		break;
	case TRIGGER_LOSS:
		(void)snprintf(value, size, ", %" PRIu64, hit->value);
		break;
	default:
		break;
	}
}

static void describe_hit(const struct flight_report *report, char *text, size_t size)
{
	const struct trigger *trigger = report->trigger;
	const struct trigger_hit *hit = report->hit;
	char who[128] = "", value[64] = "";

	if (report->tid)
		(void)snprintf(who, sizeof who, " in %s (%d), thread %s (%d)", report->procname, report->pid,
			       report->thread, report->tid);
	else if (report->pid)
		(void)snprintf(who, sizeof who, " in %s (%d)", report->procname, report->pid);
	describe_value(trigger, hit, value, sizeof value);
	(void)snprintf(text, size, "%s: %s%s%s", trigger->text, hit->what, value, who);
}

static void describe(const struct flight_report *report, char *text, size_t size)
{
	if (report->cause == FLIGHT_TRIGGER)
		describe_hit(report, text, size);
	else if (report->cause == FLIGHT_PROGRAM)
		(void)snprintf(text, size, "kymo_snapshot() of %s (%d)", report->procname, report->pid);
	else
		(void)snprintf(text, size, "%s", report->cause == FLIGHT_SIGNAL ? "SIGUSR1" : "kymo snapshot");
}

static void print_json(const struct flight_report *report, const char *why)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "number", json_object_new_int64(report->number));
	json_object_object_add(object, "trace", json_object_new_string(report->path));
	json_object_object_add(object, "cause", json_object_new_string(why));
	if (report->trigger)
		json_object_object_add(object, "trigger", json_object_new_string(report->trigger->text));
	if (report->hit)
		json_object_object_add(object, "value", json_object_new_uint64(report->hit->value));
	json_object_object_add(object, "duration_ns", json_object_new_uint64(report->end_ns - report->begin_ns));
	json_object_object_add(object, "events", json_object_new_uint64(report->events));
	json_object_object_add(object, "dropped", json_object_new_uint64(report->dropped));
	json_object_object_add(object, "bytes", json_object_new_uint64(report->bytes));
	json_object_object_add(object, "suppressed", json_object_new_uint64(report->suppressed));
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

/* @why: without what a terminal would obey. */
static void print_line(const struct flight_report *report, const char *why)
{
	char line[3 * 4096], time[TEXT_QUANTITY_MAX], dropped[48] = "", fired[64] = "";

	if (report->dropped)
		(void)snprintf(dropped, sizeof dropped, ", %" PRIu64 " dropped", report->dropped);
	if (report->suppressed)
		(void)snprintf(fired, sizeof fired, "; fired %" PRIu64 " more time%s meanwhile", report->suppressed,
			       report->suppressed == 1 ? "" : "s");
	(void)snprintf(line, sizeof line, "%s  %s; %s, %" PRIu64 " events%s%s", report->path, why,
		       text_ns(time, (int64_t)(report->end_ns - report->begin_ns)), report->events,
		       dropped, fired);
	screen_say(stdout, 0, 2, line);
}

static void on_written(void *context, const struct flight_report *report)
{
	struct flight_show *show = context;
	char why[1024], clean[2048];

	if (show->terminal)
		fputs("\r\033[K", stderr);
	if (report->failed && show->incident)
		record_incident_failed(report);
	if (report->failed && report->cause == FLIGHT_REQUEST)
		return;			/* kymo snapshot reports it */
	if (report->failed) {
		show->failed += report->failed->status != KYMO_EXIT_EMPTY;
		cli_say("record", report->failed->text);
		return;
	}
	show->written++;
	show->dropped += report->dropped;
	describe(report, why, sizeof why);
	if (show->incident)
		record_incident_written(show->incident, show->directory, report, why);
	text_clean(clean, sizeof clean, why);
	if (show->format == TABLE_JSON) {
		print_json(report, why);
	} else {
		print_line(report, clean);
	}
	fflush(stdout);
}

/* ---- before and after ---- */

bool flight_help(const struct flight_wishes *wishes)
{
	const struct trigger_word *word;

	if (!wishes->triggers.count || strcmp(wishes->triggers.item[0], "help") != 0)
		return false;
	printf("Write a snapshot when\n\n");
	for (unsigned i = 0; (word = trigger_word_at(i)); i++)
		printf("%s\n    %s\n", word->text, word->meaning);
	printf("\nJoin some with 'and'; 'for 3 times in 10s' counts; for \"or\", repeat --trigger:\n\n"
	       "silent(/scan) > 1s and cpu(/planner) > 80%%\nlate(/control) > 2ms for 3 times in 10s\n");
	return true;
}

static int check(const struct flight_wishes *wishes, struct kymo_err *err)
{
	if (wishes->window < 0 && (wishes->post >= 0 || wishes->memory || wishes->snapshots ||
				   wishes->triggers.count || incident_wished(&wishes->incident)))
		return err_set(err, KYMO_EXIT_USAGE, "--trigger, --post, --flight-memory, --snapshots and --incidents require --flight TIME: "
			       "how much to keep");
	if (wishes->window == 0)
		return err_set(err, KYMO_EXIT_USAGE, "--flight 0 keeps nothing; write a time such as 30s");
	if (wishes->memory && wishes->memory < MEMORY_MIN)
		return err_set(err, KYMO_EXIT_USAGE, "--flight-memory must be at least 1M");
	return 0;
}

int flight_prepare(const struct flight_wishes *wishes, struct flight_show *show,
		   struct record_options *record, struct kymo_err *err)
{
	struct flight_options *options = &show->options;

	if (check(wishes, err) < 0)
		return -1;
	if (wishes->window < 0)
		return 0;
	if (show->format == TABLE_CSV)
		return err_set(err, KYMO_EXIT_USAGE, "--flight does not work with --format csv: it prints a line or, with --format json, an object for each "
			       "snapshot");
	for (unsigned i = 0; i < wishes->triggers.count; i++)
		if (triggers_add(&options->triggers, wishes->triggers.item[i], err) < 0)
			return -1;
	options->window_ns = (uint64_t)wishes->window;
	options->post_ns = wishes->post >= 0 ? (uint64_t)wishes->post : POST_NS;
	if (options->post_ns >= options->window_ns)
		options->post_ns = wishes->post >= 0 ? options->window_ns : options->window_ns / 2;
	options->memory = wishes->memory ? wishes->memory : MEMORY;
	options->version = record->session.version;
	options->name = name_snapshot;
	options->written = on_written;
	options->say = record->session.say;
	options->say_context = record->session.context;
	options->context = show;
	record->flight = options;
	options->snapshots = wishes->snapshots;
	if (!incident_wished(&wishes->incident))
		return make_output(show, err);
	show->incident = &wishes->incident;
	options->rest_ns = (uint64_t)wishes->incident.rest_ns;
	return record_incident_prepare(&wishes->incident, show->output, show->directory, err);
}

void flight_tidy(const struct flight_show *show)
{
	if (show->made && !show->written)
		(void)rmdir(show->output);	/* unless other files are in it */
}

int flight_summary(const struct flight_show *show, const struct record_result *result, bool strict,
		   bool quiet)
{
	char time[TEXT_QUANTITY_MAX], clean[2 * sizeof result->unmet];

	if (result->unmet[0]) {
		text_clean(clean, sizeof clean, result->unmet);
		fprintf(stderr, "kymo record: the trigger %s\n", clean);
	}
	if (!quiet)
		fprintf(stderr, "%u snapshot%s of %" PRIu64 " events in %s\n", show->written,
			show->written == 1 ? "" : "s", result->stats.recorded,
			text_ns(time, (int64_t)result->stats.duration_ns));
	if (show->failed)
		return KYMO_EXIT_FAILED;
	return strict && show->dropped ? KYMO_EXIT_LOSS : KYMO_EXIT_OK;
}
