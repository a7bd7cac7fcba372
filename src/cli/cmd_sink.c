/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo sink`: where a running recorder writes to, changed while it records. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common.h"
#include "cli/sink_files.h"
#include "recorder/control.h"
#include "recorder/states.h"

#define ASK_MS 60000	/* the recorder flushes and completes before it answers */

struct options {
	struct sink_wishes files;
	int format;
	bool quiet;
};

static const struct opt opts[] = {
	SINK_FILES_OPTS(struct options, files),
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static uint64_t number(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	(void)json_object_object_get_ex(object, key, &value);
	return json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
}

static const char *text(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	(void)json_object_object_get_ex(object, key, &value);
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "?";
}

static struct json_object *request(const char *what)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "request", json_object_new_string(what));
	return object;
}

/* Takes @object. Return: 0 and *@reply; -1 with @err. */
static int ask(struct json_object *object, struct json_object **reply, struct err *err)
{
	struct rundir dir;
	int rc = rundir_open(&dir, NULL, false, err);

	*reply = NULL;
	if (rc == 0) {
		rc = control_ask(&dir, object, ASK_MS, reply, err);
		rundir_close(&dir);
	}
	json_object_put(object);
	return rc == 1 ? states_nobody(dir.path, err) : rc;
}

/* ---- list ---- */

static void put_sink(struct table *table, struct json_object *sink)
{
	struct json_object *chunks = NULL, *relay = NULL;

	(void)json_object_object_get_ex(sink, "chunks", &chunks);
	(void)json_object_object_get_ex(sink, "relay", &relay);
	table_u64(table, number(sink, "number"));
	table_text(table, text(sink, "kind"));
	table_text(table, text(sink, "state"));
	table_ns(table, (int64_t)number(sink, "duration_ns"));
	table_u64(table, number(sink, "recorded"));
	table_u64(table, number(sink, "dropped"));
	table_u64(table, number(sink, "unwritten"));
	table_bytes(table, number(sink, "bytes"));
	table_u64(table, number(chunks, "made"));
	table_u64(table, number(chunks, "removed"));
	if (relay) {
		table_text(table, text(relay, "state"));
		table_bytes(table, number(relay, "waiting"));
	} else {
		table_none(table);
		table_none(table);
	}
	table_text(table, text(sink, "path"));
}

static int list(const struct options *options, struct err *err)
{
	static const struct table_column columns[] = {
		{ "number", "#" }, { "kind", "KIND" }, { "state", "STATE" }, { "duration_ns", "SINCE" },
		{ "recorded", "EVENTS" }, { "dropped", "DROPPED" }, { "unwritten", "NOT WRITTEN" },
		{ "bytes", "BYTES" }, { "chunks", "CHUNKS" }, { "chunks_removed", "REMOVED" },
		{ "relay", "RELAY" }, { "waiting_bytes", "WAITING" }, { "path", "PATH" },
	};
	struct json_object *reply, *sinks = NULL;
	struct table *table;

	if (ask(request("sink_list"), &reply, err) < 0)
		return -1;
	(void)json_object_object_get_ex(reply, "sinks", &sinks);
	if (table_open(&table, stdout, (enum table_format)options->format) < 0) {
		json_object_put(reply);
		return err_set(err, EXIT_FAILED, "out of memory");
	}
	table_section(table, "sinks", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; json_object_is_type(sinks, json_type_array) && i < json_object_array_length(sinks); i++)
		put_sink(table, json_object_array_get_idx(sinks, i));
	json_object_put(reply);
	return cli_close("sink", table, EXIT_OK);
}

/* ---- add, remove ---- */

static void put_number(struct json_object *object, const char *key, uint64_t value)
{
	if (value)
		json_object_object_add(object, key, json_object_new_uint64(value));
}

static int add(const struct options *options, const char *path, struct err *err)
{
	char output[PATH_MAX + CLI_PATH_MAX];
	struct json_object *object, *reply;
	struct sink_files files;

	if (sink_files_read(&options->files, &files, err) < 0 ||
	    cli_absolute(output, sizeof output, path, err) < 0)
		return -1;
	object = request("sink_add");
	json_object_object_add(object, "output", json_object_new_string(output));
	put_number(object, "rotate_size", files.rotate_size);
	put_number(object, "rotate_ns", files.rotate_ns);
	put_number(object, "max_size", files.max_size);
	put_number(object, "compress", files.compress);
	if (ask(object, &reply, err) < 0)
		return -1;
	if (!options->quiet)
		fprintf(stderr, "sink %" PRIu64 ": %s\n", number(reply, "number"), text(reply, "path"));
	json_object_put(reply);
	return EXIT_OK;
}

static int take_away(const struct options *options, const char *name, struct err *err)
{
	char path[PATH_MAX + CLI_PATH_MAX], bytes[TEXT_QUANTITY_MAX];
	struct json_object *object, *reply;
	uint64_t id;

	if (!text_read_u64(name, &id) && cli_absolute(path, sizeof path, name, err) < 0)
		return -1;
	object = request("sink_remove");
	json_object_object_add(object, "sink", json_object_new_string(text_read_u64(name, &id) ? name : path));
	if (ask(object, &reply, err) < 0)
		return -1;
	if (!options->quiet)
		fprintf(stderr, "%" PRIu64 " events and %" PRIu64 " init events, %s, %" PRIu64 " dropped\n"
			"trace: %s\n", number(reply, "recorded"), number(reply, "init_events"),
			text_bytes(bytes, number(reply, "bytes")), number(reply, "dropped"), text(reply, "path"));
	if (number(reply, "unwritten"))
		fprintf(stderr, "kymo sink: %" PRIu64 " events could not be written\n", number(reply, "unwritten"));
	json_object_put(reply);
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct options options = { 0 };
	struct err err;
	int rc;

	if (opt_parse(opts, &options, &argc, &argv, NULL, &err) < 0)
		return cli_fail("sink", &err);
	if (argc == 2 && strcmp(argv[0], "add") == 0)
		rc = add(&options, argv[1], &err);
	else if (sink_files_any(&options.files))
		rc = err_set(&err, EXIT_USAGE, "--rotate-size, --rotate-time, --max-size and --compress go with \"add DIR\"");
	else if (argc == 2 && strcmp(argv[0], "remove") == 0)
		rc = take_away(&options, argv[1], &err);
	else if (argc == 1 && strcmp(argv[0], "list") == 0)
		rc = list(&options, &err);
	else
		rc = err_set(&err, EXIT_USAGE, "what to do: list, add DIR, or remove DIR or its number");
	return rc < 0 ? cli_fail("sink", &err) : rc;
}

const struct verb verb_sink = {
	.name = "sink",
	.synopsis = "list | add DIR | remove DIR|NUMBER",
	.summary = "add and remove traces while recording",
	.description =
		"The \"kymo record\" of the runtime directory may write several traces at a time. \"add\" begins "
		"another one, which is complete in itself: it has the names of everything that is there, and "
		"all events from now on. \"remove\" completes one and goes on with the others; the last one ends "
		"with \"kymo stop\". \"list\" shows them.\n\n"
		"What one of them cannot write (a full disk), the others have; it is counted for that one. With "
		"--rotate-size, --rotate-time, --max-size and --compress a trace is kept as with \"kymo record\".\n\n"
		"Exit status 6 when nobody records.",
	.examples =
		"kymo sink list\n"
		"kymo sink add /mnt/usb/trace\n"
		"kymo sink add /data/ring --max-size 10G --rotate-time 10min\n"
		"kymo sink remove /mnt/usb/trace\n",
	.opts = opts,
	.run = run,
};
