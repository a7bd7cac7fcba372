/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/incidents/incidents_finish.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json_get.h"
#include "base/now.h"
#include "cli/input/fired.h"
#include "incident/incident.h"

#define TOOL_LIMIT_NS INT64_C(600000000000)	/* of the finding, the page, the summary, each */
#define NICE 19
#define POINT_MAX 48
#define NSEC_PER_SEC INT64_C(1000000000)
#define OUTPUT_MOST (1u << 20)

int incidents_directory(char path[CLI_PATH_MAX], struct kymo_err *err)
{
	const char *given = getenv("KYMO_INCIDENTS");
	char traces[CLI_PATH_MAX];
	int length;

	if (given && *given)
		return cli_absolute(path, CLI_PATH_MAX, given, err);
	if (cli_trace_dir(traces, err) < 0)
		return -1;
	length = snprintf(path, CLI_PATH_MAX, "%s/incidents", traces);
	return length < CLI_PATH_MAX ? 0 : err_set(err, KYMO_EXIT_FAILED, "the path of the incidents is too long");
}

/* ---- programs ---- */

static int move(const char *path, int flags, int to)
{
	const int fd = open(path, flags | O_CLOEXEC, 0666);

	return fd < 0 || dup2(fd, to) < 0 ? -1 : 0;
}

/* In the child: a group of its own, so that all of it can be ended. */
static void become(char *const *argv, const char *directory, const char *input, const char *output)
{
	(void)setpgid(0, 0);
	if (chdir(directory) < 0 || move(input, O_RDONLY, 0) < 0 ||
	    move(output, O_WRONLY | O_CREAT | O_TRUNC, 1) < 0 || move("/dev/null", O_WRONLY, 2) < 0)
		_exit(127);
	(void)execv(argv[0], argv);
	_exit(127);
}

/* Return: what waitpid() says; -1: it was ended after @limit_ns, or could not begin. */
static int run_program(char *const *argv, const char *directory, const char *input,
		       const char *output, int64_t limit_ns)
{
	const int64_t begun = (int64_t)now_ns();
	const pid_t child = fork();
	int status = -1;

	if (child == 0)
		become(argv, directory, input, output);
	if (child < 0)
		return -1;
	for (;;) {
		const pid_t ended = waitpid(child, &status, WNOHANG);

		if (ended == child || (ended < 0 && errno != EINTR))
			return status;
		if ((int64_t)now_ns() - begun > limit_ns)
			break;
		(void)poll(NULL, 0, 20);
	}
	(void)kill(-child, SIGKILL);
	(void)kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return -1;
}

static bool run_kymo(const char *directory, const char *output, const char *const *words)
{
	char self[] = "/proc/self/exe";
	char *argv[12] = { self };
	bool done;

	for (unsigned i = 0; words[i] && i + 2 < COUNT_OF(argv); i++)
		argv[i + 1] = strdup(words[i]);
	done = run_program(argv, directory, "/dev/null", output, TOOL_LIMIT_NS) == 0;
	for (unsigned i = 1; argv[i]; i++)
		free(argv[i]);
	return done;
}

/* ---- what is added ---- */

static void set_text(struct json_object *json, const char *key, const char *text)
{
	json_object_object_add(json, key, text ? json_object_new_string(text) : NULL);
}

/* "CALLBACK: SENTENCE", of what `kymo why` prints, and when that instance began. */
static bool read_finding(const char *directory, struct json_object *json)
{
	char path[INCIDENT_PATH_MAX + 16], text[2048], *why;
	const char *name, *sentence;
	struct json_object *said, *begin;
	struct kymo_err err;
	size_t size;
	bool found;

	(void)snprintf(path, sizeof path, "%s/why.json", directory);
	if (file_load(path, OUTPUT_MOST, &why, &size, &err) < 0)
		return false;
	said = json_tokener_parse(why);
	free(why);
	sentence = json_get_text(said, "sentence");
	name = json_get_text(said, "callback");
	if (!name)
		name = json_get_text(said, "chain");
	if (!sentence) {	/* of a loop or a span */
		sentence = json_get_text(said, "why");
		name = json_get_text(said, "worst");
	}
	found = sentence && *sentence;
	if (found) {
		(void)snprintf(text, sizeof text, "%s%s%s", name ? name : "", name ? ": " : "", sentence);
		set_text(json, "finding", text);
		begin = json_get(json_object_array_get_idx(json_get(said, "instances"), 0), "begin_ns");
		if (begin)
			json_object_object_add(json, "finding_begin_ns", json_object_get(begin));
	}
	json_object_put(said);
	return found;
}

static void write_point(char text[POINT_MAX], int64_t ns)
{
	(void)snprintf(text, POINT_MAX, "%" PRId64 ".%09" PRId64, ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

static bool find(const char *path, struct json_object *json, const char *const *words)
{
	return run_kymo(path, "why.json", words) && read_finding(path, json);
}

static void find_cause(const char *path, struct json_object *json)
{
	struct fired fired;
	char at[POINT_MAX];
	const char *const that[] = { "why", "--format", "json", "--at", "trigger", "trace", NULL };
	const char *const then[] = { "why", "--format", "json", "--at", at, "trace", NULL };
	const char *const worst[] = { "why", "--format", "json", "trace", NULL };

	fired_of(&fired, json_get_text(json, "trigger"), json_get_text(json, "what"), json_get_u64(json, "value"),
		 (int64_t)json_get_u64(json, "at_ns"));
	write_point(at, fired.at_ns);
	if (*fired.name && find(path, json, that))
		set_text(json, "finding_about", "trigger");
	else if (find(path, json, then))
		set_text(json, "finding_about", "moment");
	else if (find(path, json, worst))
		set_text(json, "finding_about", "trace");
}

/* Return: 0, or -1 with @err. */
static int finish_one(struct incident *incident, struct kymo_err *err)
{
	const char *const page[] = { "export", "-q", "-o", "page.html", "trace", NULL };
	const char *const summary[] = { "report", "--format", "summary", "-o", "summary", "trace", NULL };
	struct json_object *files = json_object_new_object();
	const char *path = incident->path;

	find_cause(path, incident->json);
	set_text(files, "trace", "trace");
	if (run_kymo(path, "/dev/null", page))
		set_text(files, "page", "page.html");
	if (run_kymo(path, "/dev/null", summary))
		set_text(files, "summary", "summary");
	json_object_object_add(incident->json, "files", files);
	set_text(incident->json, "state", "complete");
	return incident_write(path, incident->json, err);
}

/* ---- the user's command ---- */

static void set_variable(const char *what, const char *value)
{
	char name[64];

	(void)snprintf(name, sizeof name, "KYMO_INCIDENT_%s", what);
	if (value)
		(void)setenv(name, value, 1);
	else
		(void)unsetenv(name);
}

static void run_command(const struct incident *incident, const char *command, int64_t limit_ns)
{
	char shell[] = "/bin/sh", option[] = "-c";
	char *argv[] = { shell, option, strdup(command), NULL };
	struct kymo_err err;
	int status;

	set_variable("DIR", incident->path);
	set_variable("NAME", incident->name);
	set_variable("FINDING", incident_sentence(incident));
	set_variable("CAUSE", json_get_text(incident->json, "cause"));
	set_variable("TRIGGER", json_get_text(incident->json, "trigger"));
	set_variable("PROCESS", json_get_text(incident->json, "process"));
	status = run_program(argv, incident->path, "incident.json", "/dev/null", limit_ns);
	free(argv[2]);
	set_text(incident->json, "command", status < 0 ? "ended after its time limit" : status ? "failed" : "succeeded");
	(void)incident_write(incident->path, incident->json, &err);
}

/* ---- all ---- */

static int lock(const char *directory, struct kymo_err *err)
{
	char path[INCIDENT_PATH_MAX + 16];
	int fd;

	(void)snprintf(path, sizeof path, "%s/.lock", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot lock %s: %s", path, strerror(errno));
	return fd;
}

/* What was done with @incident; NULL: with none in @directory. */
static void tell(const char *directory, const struct incident *incident)
{
	char text[INCIDENT_PATH_MAX + 64];

	(void)snprintf(text, sizeof text, incident ? "completed %s" : "nothing to complete in %s",
		       incident ? incident->name : directory);
	cli_say((void *)"incidents", text);
}

int incidents_finish(const char *directory, const char *command, int64_t limit_ns,
		     struct kymo_err *err)
{
	struct incidents incidents;
	unsigned finished = 0, wrong = 0;
	int rc, fd;

	if (access(directory, F_OK) < 0) {
		tell(directory, NULL);
		return 0;
	}
	fd = lock(directory, err);
	if (fd < 0)
		return -1;
	(void)incidents_recover(directory);
	rc = incidents_read(directory, &incidents, err);
	for (unsigned i = 0; rc == 0 && i < incidents.count; i++) {
		struct incident *incident = &incidents.item[i];
		int hold;

		if (strcmp(incident_state(incident), "written") != 0)
			continue;
		/* It is not uploaded before the command has ended. */
		hold = incident_hold(incident->path);
		/* One that cannot be completed does not hold up the others. */
		if (finish_one(incident, err)) {
			(void)cli_fail("incidents", err);
			wrong++;
		} else {
			tell(directory, incident);
			finished++;
		}
		if (command)
			run_command(incident, command, limit_ns);
		incident_let_go(hold);
	}
	if (rc == 0 && !finished && !wrong)
		tell(directory, NULL);
	if (wrong)
		rc = err_set(err, KYMO_EXIT_FAILED, "%s", "");
	incidents_free(&incidents);
	(void)close(fd);
	return rc;
}

/* The child's child does it: nobody has to wait for it. */
void incidents_finish_later(const char *directory, const char *command, int64_t limit_ns)
{
	char self[] = "/proc/self/exe", name[] = "kymo", verb[] = "incidents", word[] = "finish", option[] = "--on-incident",
	     time[] = "--command-limit", limit[32];
	char *argv[9] = { name, verb, word, strdup(directory) };
	pid_t child;

	if (command) {
		argv[4] = option;
		argv[5] = strdup(command);
		argv[6] = time;
		argv[7] = limit;
	}
	(void)snprintf(limit, sizeof limit, "%" PRId64 "ns", limit_ns);
	child = argv[3] && (!command || argv[5]) ? fork() : -1;
	if (child == 0) {
		sigset_t none;

		if (fork() != 0)
			_exit(0);
		(void)setsid();
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		(void)setpriority(PRIO_PROCESS, 0, NICE);
		for (int fd = 0; fd < 3; fd++)
			(void)move("/dev/null", fd ? O_WRONLY : O_RDONLY, fd);
		(void)execv(self, argv);
		_exit(127);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	free(argv[3]);
	free(argv[5]);
}
