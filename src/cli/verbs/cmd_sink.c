/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo sink`: where a running recorder writes to, changed while it records. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/json_get.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "cli/verbs/record/record_relay.h"
#include "cli/input/record_options.h"
#include "recorder/control/control.h"
#include "recorder/runtime/states.h"

#define ASK_MS 60000	/* the recorder flushes and completes before it answers */
/* a relay may be slow: as long as it makes progress the recorder waits */
#define REMOVE_MS 3600000
#define CONNECT_MS 5000	/* how long to wait for a relay's answer */
#define POLL_MS 20

struct options {
	struct sink_wishes files;
	struct relay_wishes relay;
	int format;
	bool quiet;
};

static const struct opt opts[] = {
	SINK_FILES_OPTS(struct options, files),
	RELAY_HOW_OPTS(struct options, relay),
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static const char *text(struct json_object *object, const char *key)
{
	const char *found = json_get_text(object, key);

	return found ? found : "?";
}

static struct json_object *request(const char *what)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "request", json_object_new_string(what));
	return object;
}

/* Takes @object. Return: 0 and *@reply; -1 with @err. */
static int ask(struct json_object *object, int timeout_ms, struct json_object **reply,
	       struct kymo_err *err)
{
	struct rundir dir;
	int rc = rundir_open(&dir, NULL, false, err);

	*reply = NULL;
	if (rc == 0) {
		rc = control_ask(&dir, object, timeout_ms, reply, err);
		rundir_close(&dir);
	}
	json_object_put(object);
	return rc == 1 ? states_nobody(dir.path, err) : rc;
}

/* ---- list ---- */

static void put_sink(struct table *table, struct json_object *sink)
{
	struct json_object *chunks = json_get(sink, "chunks"), *relay = json_get(sink, "relay");

	table_u64(table, json_get_u64(sink, "number"));
	table_text(table, text(sink, "kind"));
	table_text(table, text(sink, "state"));
	table_ns(table, (int64_t)json_get_u64(sink, "duration_ns"));
	table_u64(table, json_get_u64(sink, "recorded"));
	table_u64(table, json_get_u64(sink, "dropped"));
	table_u64(table, json_get_u64(sink, "unwritten"));
	table_bytes(table, json_get_u64(sink, "bytes"));
	table_u64(table, json_get_u64(chunks, "made"));
	table_u64(table, json_get_u64(chunks, "removed"));
	if (relay) {
		table_text(table, text(relay, "state"));
		table_bytes(table, json_get_u64(relay, "waiting"));
	} else {
		table_none(table);
		table_none(table);
	}
	table_text(table, text(sink, "path"));
}

static int list_sinks(const struct options *options, struct kymo_err *err)
{
	static const struct table_column columns[] = {
		{ "number", "#" }, { "kind", "KIND" }, { "state", "STATE" }, { "duration_ns", "SINCE" },
		{ "recorded", "EVENTS" }, { "dropped", "DROPPED" }, { "unwritten", "NOT WRITTEN" },
		{ "bytes", "BYTES" }, { "chunks", "CHUNKS" }, { "chunks_removed", "REMOVED" },
		{ "relay", "RELAY" }, { "waiting_bytes", "WAITING" }, { "path", "PATH" },
	};
	struct json_object *reply, *sinks;
	struct table *table;

	if (ask(request("sink_list"), ASK_MS, &reply, err) < 0)
		return -1;
	sinks = json_get(reply, "sinks");
	if (cli_table("sink", options->format, &table)) {
		json_object_put(reply);
		return KYMO_EXIT_FAILED;
	}
	table_section(table, "sinks", NULL, columns, COUNT_OF(columns));
	for (size_t i = 0; i < json_length(sinks); i++)
		put_sink(table, json_object_array_get_idx(sinks, i));
	json_object_put(reply);
	return cli_close("sink", table, KYMO_EXIT_OK);
}

/* ---- add, remove ---- */

static void put_number(struct json_object *object, const char *key, uint64_t value)
{
	if (value)
		json_object_object_add(object, key, json_object_new_uint64(value));
}

static int put_directory(const struct options *options, const char *path,
			 struct json_object *object, struct kymo_err *err)
{
	char output[PATH_MAX + CLI_PATH_MAX];
	struct sink_files files;

	if (record_relay_any(&options->relay))
		return err_set(err, KYMO_EXIT_USAGE, "--live-timer, --spool, --linger, --tls-ca, --tls-pin and --token-file require a "
			       "relay's URL, and %s is a directory", path);
	if (sink_files_read(&options->files, &files, err) < 0 ||
	    cli_absolute(output, sizeof output, path, err) < 0)
		return -1;
	json_object_object_add(object, "output", json_object_new_string(output));
	put_number(object, "rotate_size", files.rotate_size);
	put_number(object, "rotate_ns", files.rotate_ns);
	put_number(object, "max_size", files.max_size);
	put_number(object, "compress", files.compress);
	put_number(object, "ctf", files.form ? 2 : 0);
	return 0;
}

/* Errors in the options are reported here already; the recorder checks them again. */
static int put_url(const struct options *options, const char *url, struct json_object *object,
		   struct kymo_err *err)
{
	struct relay_wishes wishes = options->relay;
	struct record_relay relay;
	int rc;

	wishes.url = url;
	if (sink_files_any(&options->files))
		return err_set(err, KYMO_EXIT_USAGE, "--rotate-size, --rotate-time, --max-size, --compress and --ctf require a directory; "
			       "a relay has options of its own");
	rc = record_relay_prepare(&wishes, &relay, err);
	record_relay_free(&relay);
	return rc < 0 ? -1 : record_relay_request(&wishes, object, err);
}

/* How sink @id describes its relay. Return: 0 and the reply that it is in; -1 with @err. */
static int read_relay(uint64_t id, struct json_object **reply, struct json_object **relay,
		      struct kymo_err *err)
{
	struct json_object *sinks;

	*relay = NULL;
	if (ask(request("sink_list"), ASK_MS, reply, err) < 0)
		return -1;
	sinks = json_get(*reply, "sinks");
	for (size_t i = 0; i < json_length(sinks); i++)
		if (json_get_u64(json_object_array_get_idx(sinks, i), "number") == id)
			*relay = json_get(json_object_array_get_idx(sinks, i), "relay");
	return 0;
}

/* A relay need not be reachable yet; if it is not, that is reported. */
static int await_connection(uint64_t id, const char *url, bool quiet, struct kymo_err *err)
{
	struct json_object *reply, *relay;
	bool wait = true;

	for (unsigned i = 0; wait && i < CONNECT_MS / POLL_MS; i++) {
		if (read_relay(id, &reply, &relay, err) < 0)
			return -1;
		wait = relay && strcmp(text(relay, "state"), "connected") != 0;
		if (wait && *text(relay, "why")) {
			fprintf(stderr, "kymo sink: cannot reach %s: %s; kymo tries again, and the events wait meanwhile; "
				"\"kymo sink remove %" PRIu64 "\" gives up\n", url, text(relay, "why"), id);
			wait = false;
		} else if (relay && !wait && !quiet) {
			fprintf(stderr, "as host/%s/%s\n", text(relay, "host"), text(relay, "session"));
		}
		json_object_put(reply);
		if (wait)
			(void)nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000 }, NULL);
	}
	return 0;
}

static int add_sink(const struct options *options, const char *where, struct kymo_err *err)
{
	const bool is_url = url_is_one(where);
	struct json_object *object = request("sink_add"), *reply;
	uint64_t id;
	int rc;

	if ((is_url ? put_url : put_directory)(options, where, object, err) < 0) {
		json_object_put(object);
		return -1;
	}
	if (ask(object, ASK_MS, &reply, err) < 0)
		return -1;
	id = json_get_u64(reply, "number");
	if (!options->quiet)
		fprintf(stderr, "sink %" PRIu64 ": %s\n", id, text(reply, "path"));
	json_object_put(reply);
	rc = is_url ? await_connection(id, where, options->quiet, err) : 0;
	return rc;
}

static void report_unsent(struct json_object *reply)
{
	struct json_object *relay = json_get(reply, "relay");

	if (json_get_u64(reply, "unwritten"))
		fprintf(stderr, "kymo sink: %" PRIu64 " events could not be written\n", json_get_u64(reply, "unwritten"));
	if (json_get_u64(relay, "lost_events"))
		fprintf(stderr, "kymo sink: %" PRIu64 " events were lost on the way\n", json_get_u64(relay, "lost_events"));
	if (json_get_u64(relay, "unsent_packets"))
		fprintf(stderr, "kymo sink: the relay did not confirm the last %" PRIu64 " events; they are kept, and "
			"the next recorder that sends to this relay sends them\n", json_get_u64(relay, "unsent_events"));
}

static int remove_sink(const struct options *options, const char *name, struct kymo_err *err)
{
	char path[PATH_MAX + CLI_PATH_MAX], bytes[TEXT_QUANTITY_MAX];
	struct json_object *object, *reply;
	const char *sink = name;
	uint64_t id;

	if (!text_read_u64(name, &id) && !url_is_one(name)) {
		if (cli_absolute(path, sizeof path, name, err) < 0)
			return -1;
		sink = path;
	}
	object = request("sink_remove");
	json_object_object_add(object, "sink", json_object_new_string(sink));
	if (ask(object, REMOVE_MS, &reply, err) < 0)
		return -1;
	if (!options->quiet)
		fprintf(stderr, "%" PRIu64 " events and %" PRIu64 " init events, %s, %" PRIu64 " dropped\n"
			"%s: %s\n", json_get_u64(reply, "recorded"), json_get_u64(reply, "init_events"),
			text_bytes(bytes, json_get_u64(reply, "bytes")), json_get_u64(reply, "dropped"),
			json_get(reply, "relay") ? "sent" : "trace", text(reply, "path"));
	report_unsent(reply);
	json_object_put(reply);
	return KYMO_EXIT_OK;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0)
		return -1;
	if (argc == 2 && strcmp(argv[0], "add") == 0)
		return add_sink(&options, argv[1], err);
	if (sink_files_any(&options.files))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--rotate-size, --rotate-time, --max-size, --compress and --ctf require "
			       "\"add DIR\"");
	if (record_relay_any(&options.relay))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--live-timer, --spool, --linger, --tls-ca, "
			       "--tls-pin and --token-file require \"add URL\"");
	if (argc == 2 && strcmp(argv[0], "remove") == 0)
		return remove_sink(&options, argv[1], err);
	if (argc == 1 && strcmp(argv[0], "list") == 0)
		return list_sinks(&options, err);
	return err_set(err, KYMO_EXIT_USAGE,
		       "write list, add DIR, add URL, or remove DIR, URL or NUMBER");
}

const struct verb verb_sink = {
	.name = "sink",
	.synopsis = "list | add DIR|URL | remove DIR|URL|NUMBER",
	.summary = "add and remove traces and relays while recording",
	.description =
		"The \"kymo record\" of the runtime directory can write several traces at a time. \"add\" begins "
		"another trace, which is complete in itself: it contains the names of everything that exists, and "
		"all events from now on. \"remove\" completes a trace and goes on with the others; \"kymo stop\" ends "
		"the last one. \"list\" shows them.\n\n"
		"With a URL the recording is also sent to a relay, as with \"kymo record --relay\": "
		"net://HOST[:CONTROL[:DATA]][/SESSION], or nets://, udp://, udps://. If the relay cannot be "
		"reached, that is reported, and kymo tries again. \"remove\" returns when the relay has stored "
		"everything, or makes no progress for --linger; the recording goes on meanwhile.\n\n"
		"If one trace cannot be written (a full disk), the others still have everything; the loss is "
		"counted for that trace. --rotate-size, --rotate-time, --max-size, --compress and --ctf work as with "
		"\"kymo record\".\n\n"
		"Exit status: 6 when no recorder is running.",
	.examples =
		"kymo sink list\n"
		"kymo sink add /mnt/usb/trace\n"
		"kymo sink add /data/ring --max-size 10G --rotate-time 10min\n"
		"kymo sink remove /mnt/usb/trace\n"
		"kymo sink add net://robot-base/robot\n"
		"kymo sink remove net://robot-base/robot\n",
	.opts = opts,
	.run = run,
};
