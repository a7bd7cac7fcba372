/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo incidents`: what the flight recorder kept of the moments at which a trigger fired. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json_get.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "cli/verbs/incidents/incidents_finish.h"
#include "cli/verbs/incidents/incidents_upload.h"
#include "incident/incident.h"

#define COMMAND_LIMIT_NS INT64_C(60000000000)

struct options {
	const char *directory, *output, *command, *to;
	int64_t limit_ns;
	int format;
	bool all;
};

static const struct opt opts[] = {
	{ "dir", 'd', OPT_TEXT, offsetof(struct options, directory), "DIR",
	  "where the incidents are (default: $KYMO_INCIDENTS, else \"incidents\" where traces are)",
	  NULL },
	CLI_OPT_OUTPUT(struct options, "FILE",
		       "export: the archive, .tar.gz (default: NAME.tar.gz)"),
	{ "to", 0, OPT_TEXT, offsetof(struct options, to), "URL",
	  "upload: s3+https://HOST/BUCKET/PREFIX or file:///DIR (default: upload.to of kymo.yaml)",
	  NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL, "rm: all incidents", NULL },
	{ "on-incident", 0, OPT_TEXT, offsetof(struct options, command), "CMD",
	  "finish: a shell command that is run for each; incident.json is its input", NULL },
	{ "command-limit", 0, OPT_TIME, offsetof(struct options, limit_ns), "TIME",
	  "finish: after this time the command is ended (default: 60s)", NULL },
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_SCREEN('w'),
	CLI_OPT_END
};

static void say_none(const char *directory)
{
	char text[4096 + 160];

	(void)snprintf(text, sizeof(text),
		       "no incident in %s; --dir DIR looks elsewhere; \"kymo record --flight 30s --incidents "
		       "--trigger ...\" writes incidents", directory);
	cli_say("incidents", text);
}

static int list(const struct options *o, const char *directory, const struct incidents *incidents)
{
	static const struct table_column columns[] = { { "name", "NAME" }, { "state", "STATE" }, { "bytes", "BYTES" },
						       { "trigger", "TRIGGER" }, { "sentence", "WHAT" } };
	struct table *table;

	if (!incidents->count && !o->format) {
		say_none(directory);
		return KYMO_EXIT_EMPTY;
	}
	if (cli_table("incidents", o->format, &table))
		return KYMO_EXIT_FAILED;
	table_section(table, "incidents", NULL, columns, COUNT_OF(columns));
	table_rank(table, "name sentence state trigger bytes");
	for (unsigned i = incidents->count; i-- > 0;) {
		const struct incident *incident = &incidents->item[i];
		const char *trigger = json_get_text(incident->json, "trigger");

		table_text(table, incident->name);
		table_text(table, incident_state(incident));
		table_bytes(table, incident->bytes);
		table_text(table, trigger ? trigger : "");
		table_text(table, incident_sentence(incident));
	}
	return cli_close("incidents", table, incidents->count ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY);
}

static int unknown(const struct incidents *incidents, const char *directory, const char *name,
		   struct kymo_err *err)
{
	struct text_nearest nearest = { 0 };

	for (unsigned i = 0; i < incidents->count; i++)
		text_nearest_try(&nearest, name, incidents->item[i].name);
	if (nearest.name)
		return err_set(err, KYMO_EXIT_INPUT, "there is no incident '%.60s'; did you mean '%s'?", name, nearest.name);
	return err_set(err, KYMO_EXIT_INPUT, "there is no incident '%.60s' in %s; `kymo incidents` lists them", name, directory);
}

static void print_line(const char *key, const char *value)
{
	char clean[4096];

	text_clean(clean, sizeof clean, value ? value : "");
	if (*clean)
		screen_say(stdout, (unsigned)printf("%s: ", key), 2, clean);
}

static void print_uploaded(const char *directory)
{
	char path[INCIDENT_PATH_MAX + 16], *line = NULL;
	size_t room = 0, length;
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/" INCIDENT_UPLOADED, directory);
	file = file_stream(path);
	while (file && (length = file_line(file, &line, &room, INCIDENT_PATH_MAX))) {
		if (line[length - 1] == '\n')
			line[length - 1] = 0;
		print_line("Uploaded", line);
	}
	if (file)
		(void)fclose(file);
	free(line);
}

/* What the finding is about, if it is not what fired. */
static const char *finding_title(const struct incident *incident)
{
	const char *about = json_get_text(incident->json, "finding_about");

	return about && strcmp(about, "moment") == 0 ? "At that time" : about && strcmp(about, "trace") == 0 ? "Longest in the trace" : "Finding";
}

/* What is made of a trace when it is written, and was not: the disk may have been full. */
static void print_missing(const struct incident *incident, struct json_object *files)
{
	const bool page = json_get_text(files, "page"), summary = json_get_text(files, "summary");

	if (strcmp(incident_state(incident), "complete") != 0 || (page && summary))
		return;
	printf("Missing: the %s could not be written; perhaps the disk was full\n",
	       page      ? "summary"
	       : summary ? "page"
			 : "page and the summary");
}

static int show(const struct options *o, const struct incident *incident)
{
	struct json_object *files = json_get(incident->json, "files");
	char bytes[TEXT_QUANTITY_MAX], path[2 * INCIDENT_PATH_MAX];
	static const char *const keys[][2] = { { "Time", "time" }, { "Trigger", "trigger" }, { "What", "cause" },
					       { "Process", "process" }, { "Command", "command" } };

	if (o->format == TABLE_JSON) {
		puts(json_object_to_json_string_ext(
			incident->json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
		return KYMO_EXIT_OK;
	}
	print_line("Incident", incident->name);
	for (unsigned i = 0; i < COUNT_OF(keys); i++)
		print_line(keys[i][0], json_get_text(incident->json, keys[i][1]));
	print_line(finding_title(incident), json_get_text(incident->json, "finding"));
	print_line("State", incident_state(incident));
	printf("Size: %s\n", text_bytes(bytes, incident->bytes));
	(void)snprintf(path, sizeof path, "%s/trace", incident->path);
	print_line("Trace", path);
	if (json_get_text(files, "page")) {
		(void)snprintf(path, sizeof path, "%s/%s", incident->path, json_get_text(files, "page"));
		print_line("Page", path);
	}
	print_missing(incident, files);
	print_uploaded(incident->path);
	return KYMO_EXIT_OK;
}

static int export(const struct options *o, const char *directory, const struct incident *incident,
		  struct kymo_err *err)
{
	char name[INCIDENT_NAME_MAX + 8];
	const char *output = o->output ? o->output : name;
	pid_t child;
	int status = -1;

	(void)snprintf(name, sizeof name, "%s.tar.gz", incident->name);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		(void)execlp("tar", "tar", "-czf", output, "-C", directory, incident->name, (char *)NULL);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || status)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", output,
			       WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "the program tar is not installed; install it"
									       : "tar failed; free some space");
	printf("%s\n", output);
	return KYMO_EXIT_OK;
}

static int check_names(const char *directory, const struct incidents *incidents, int argc,
		       char **argv, struct kymo_err *err)
{
	for (int i = 0; i < argc; i++)
		if (!incidents_find(incidents, argv[i]))
			return unknown(incidents, directory, argv[i], err);
	return 0;
}

static int drop(const struct options *o, const char *directory, const struct incidents *incidents,
		int argc, char **argv, struct kymo_err *err)
{
	char text[INCIDENT_PATH_MAX + 64];

	if (!argc && !o->all)
		return err_set(err, KYMO_EXIT_USAGE, "rm: which incident? Name one, or --all");
	if (check_names(directory, incidents, argc, argv, err))
		return -1;
	for (unsigned i = 0; i < incidents->count; i++) {
		bool named = o->all;

		for (int j = 0; j < argc; j++)
			named |= strcmp(argv[j], incidents->item[i].name) == 0;
		if (!named)
			continue;
		if (incident_remove(incidents->item[i].path) < 0)
			return err_set(err, KYMO_EXIT_FAILED, "cannot remove %s: %s",
				       incidents->item[i].path, strerror(errno));
		(void)snprintf(text, sizeof(text), "removed %s", incidents->item[i].name);
		cli_say((void *)"incidents", text);
	}
	if (!incidents->count) {
		(void)snprintf(text, sizeof(text), "nothing to remove in %s", directory);
		cli_say((void *)"incidents", text);
	}
	return KYMO_EXIT_OK;
}

static int act(const struct options *o, const char *directory, const struct incidents *incidents,
	       const char *word, int argc, char **argv, struct kymo_err *err)
{
	const bool shows = strcmp(word, "show") == 0;
	const struct incident *incident;

	if (strcmp(word, "ls") == 0 && !argc)
		return list(o, directory, incidents);
	if (strcmp(word, "ls") == 0)
		return err_set(err, KYMO_EXIT_USAGE, "unexpected '%.200s': another folder is given by --dir", argv[0]);
	if (strcmp(word, "rm") == 0)
		return drop(o, directory, incidents, argc, argv, err);
	if (strcmp(word, "upload") == 0)
		return check_names(directory, incidents, argc, argv, err)
			       ? -1
			       : incidents_upload(incidents, o->to, argc, argv, err);
	if (!shows && strcmp(word, "export") != 0)
		return err_set(
			err, KYMO_EXIT_USAGE,
			"'%.40s' is not known: write ls, show, export, upload, rm or finish; --dir names another folder",
			word);
	if (argc > 1)
		return err_set(err, KYMO_EXIT_USAGE, "%s: name one incident", word);
	if (!argc && !incidents->count)
		return err_set(err, KYMO_EXIT_INPUT, "%s: there is no incident in %s; --dir DIR looks elsewhere",
			       word, directory);
	incident =
		argc ? incidents_find(incidents, argv[0]) : &incidents->item[incidents->count - 1];
	if (!incident)
		return unknown(incidents, directory, argv[0], err);
	return shows ? show(o, incident) : export(o, directory, incident, err);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options o = { .limit_ns = COMMAND_LIMIT_NS };
	struct incidents incidents = { 0 };
	char directory[CLI_PATH_MAX];
	bool finishes;
	int status;

	if (opt_parse(opts, &o, &argc, &argv, NULL, err) < 0)
		return -1;
	finishes = argc && strcmp(argv[0], "finish") == 0;
	if (finishes && argc > 2)
		return err_set(err, KYMO_EXIT_USAGE, "finish: name one folder of incidents, or none");
	if (finishes && argc == 2)
		o.directory = argv[1];
	if ((o.directory ? cli_absolute(directory, sizeof directory, o.directory, err)
			 : incidents_directory(directory, err)) < 0)
		return -1;
	if (finishes)
		return incidents_finish(directory, o.command, o.limit_ns, err);
	(void)incidents_recover(directory);
	status = incidents_read(directory, &incidents, err);
	if (status == 0)
		status = act(&o, directory, &incidents, argc ? argv[0] : "ls", argc ? argc - 1 : 0, argc ? argv + 1 : argv, err);
	incidents_free(&incidents);
	return status;
}

const struct verb verb_incidents = {
	.name = "incidents",
	.synopsis = "[ls] | show [NAME] | export [NAME] | upload [NAME...] | rm NAME... | finish",
	.summary = "list, show, export, upload and remove what the flight recorder kept",
	.description =
		"\"kymo record --flight 30s --incidents --trigger ...\" writes an incident each time a trigger fires: a "
		"directory with the trace of the time before and after, the finding of \"kymo why\" in one sentence, the "
		"page for browsers, and incident.json.\n\n"
		"  ls       all incidents, newest first\n"
		"  show     one of them (default: the newest)\n"
		"  export   one of them as an archive\n"
		"  upload   send new ones, or those that you name, to a bucket or a directory\n"
		"  rm       remove them\n"
		"  finish   add findings and pages where the recorder or the machine ended before\n\n"
		"The access key of a bucket (S3) is in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in the "
		"file that upload.credentials-file of kymo.yaml names.",
	.examples = "kymo incidents\n"
		    "kymo incidents show\n"
		    "kymo incidents export -o spike.tar.gz\n"
		    "kymo incidents upload --to file:///mnt/disk\n"
		    "kymo incidents rm --all",
	.opts = opts,
	.run = run,
};
