/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caret_client record: what `ros2 caret record` does on the topics, in its order, with its options.
 * What it saw and did comes out as JSON, a line each. What stands for its LTTng session are two
 * commands.
 *
 *	caret_client record [-f FREQUENCY] [--immediate] [--begin COMMAND] [--finish COMMAND] ...
 *
 * caret_client shell: the same topics by hand, a command a line on standard input (see commands[]),
 * for everything that the command line would never send.
 *
 *	caret_client shell [--quiet-node] [--listen] ...
 */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bus.h"
#include "json.h"

#define POLL_MS 20
#define MARK "caret_trace_"		/* a node with this in its name can be recorded */
#define RECORD 3

struct known {
	char **name;			/* as in Status: no slash in front */
	bool *started;
	unsigned count, started_count;
};

static struct options {
	struct bus_options bus;
	struct start start;
	const char *begin, *finish;
	unsigned retries;
	bool immediate;
} options = {
	.bus = { .node = "caret_session_node", .enclave = "/" },
	.start = { 100, { "", "", "", "" } }, .retries = 10,
};

static struct known known;
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* ---- what is told ---- */

static void on_nodes(const char *const *names, unsigned count)
{
	event("graph");
	json_list("nodes", names, count);
	event_end();
}

static void on_command(enum topic topic, const struct start *start)
{
	event(topic == TOPIC_START ? "start" : "end");
	if (start) {
		printf(", \"frequency\": %u", start->recording_frequency);
		json_list("filter", start->filter, 4);
	}
	event_end();
}

static void on_status(const struct status *status)
{
	static const char *const states[] = { "UNINITIALIZED", "WAIT", "PREPARE", "RECORD" };
	bool expected = false;

	for (unsigned i = 0; i < known.count; i++) {
		if (strcmp(known.name[i], status->node) != 0)
			continue;
		expected = true;
		if (status->status == RECORD && !known.started[i]) {
			known.started[i] = true;
			known.started_count++;
		}
	}
	event("status");
	printf(", \"node\": ");
	json_text(status->node);
	printf(", \"status\": ");
	if (status->status >= 0 && status->status <= RECORD)
		json_text(states[status->status]);
	else
		printf("%d", status->status);
	printf(", \"pid\": %lld, \"known\": %s", (long long)status->pid, expected ? "true" : "false");
	json_list("node_names", status->node_names, status->node_count);
	event_end();
}

static void say(const char *what)
{
	event(what);
	event_end();
}

static void tell_matched(struct bus *bus)
{
	event("matched");
	printf(", \"start\": %u, \"end\": %u", bus_subscriptions(bus, TOPIC_START), bus_subscriptions(bus, TOPIC_END));
	if (options.bus.forges)
		printf(", \"status\": %u", bus_subscriptions(bus, TOPIC_STATUS));
	event_end();
}

/* ---- record ---- */

static bool input(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) > 0;
}

/* Until a line, or, at the end of the input, until Ctrl-C, as the command line. */
static void enter(struct bus *bus, const char *what)
{
	unsigned matched = 0;
	bool open = true;
	char line[256];

	say(what);
	while (!interrupted) {
		bus_poll(bus, POLL_MS);
		if (matched != bus_subscriptions(bus, TOPIC_START)) {
			matched = bus_subscriptions(bus, TOPIC_START);
			tell_matched(bus);
		}
		if (!open || !input())
			continue;
		if (fgets(line, sizeof line, stdin))
			return;
		open = false;
	}
}

/* The nodes that are in the graph at this moment, and never others. */
static void count_nodes(struct bus *bus)
{
	unsigned count;
	const char *const *names = bus_nodes(bus, &count);

	for (unsigned i = 0; i < count; i++) {
		if (!strstr(names[i], MARK))
			continue;
		known.name = reallocarray(known.name, known.count + 1, sizeof *known.name);
		known.started = reallocarray(known.started, known.count + 1, sizeof *known.started);
		if (!known.name || !known.started ||
		    !(known.name[known.count] = strdup(names[i] + (*names[i] == '/'))))
			abort();
		known.started[known.count++] = false;
	}
	event("found");
	json_list("nodes", (const char *const *)known.name, known.count);
	event_end();
}

static int command(const char *text)
{
	return text ? system(text) : 0;
}

static int record(struct bus *bus)
{
	if (!options.immediate)
		enter(bus, "press enter to start");
	for (unsigned tries = 1; command(options.begin); tries++) {
		if (tries >= options.retries) {
			say("failed to init");
			return 0;		/* as the command line */
		}
		for (int i = 0; i < 1000 / POLL_MS; i++)
			bus_poll(bus, POLL_MS);
	}
	count_nodes(bus);
	bus_start(bus, &options.start);
	say("sent start");
	while (!interrupted && known.started_count < known.count)
		bus_poll(bus, POLL_MS);
	if (known.started_count == known.count)
		say("all started");
	enter(bus, "press enter to stop");
	if (command(options.finish))
		say("failed to stop");
	bus_end(bus);
	say("sent end");
	return 0;
}

/* ---- shell ---- */

static const char *word(char **rest)
{
	const char *found = strsep(rest, "\t\n");

	return found ? found : "";
}

static enum topic topic_named(const char *name)
{
	static const char *const names[TOPIC_COUNT] = { "start", "end", "status", "discovery" };

	for (enum topic topic = 0; topic < TOPIC_COUNT; topic++)
		if (strcmp(names[topic], name) == 0)
			return topic;
	fprintf(stderr, "caret_client: no topic '%s'\n", name);
	exit(2);
}

static void do_start(struct bus *bus, char *rest)
{
	struct start start = { .recording_frequency = (uint32_t)strtoul(word(&rest), NULL, 10) };

	for (int i = 0; i < 4; i++)
		start.filter[i] = word(&rest);
	bus_start(bus, &start);
}

static void do_end(struct bus *bus, char *rest)
{
	(void)rest;
	bus_end(bus);
}

static void do_status(struct bus *bus, char *rest)
{
	struct status status = { .node = word(&rest) };

	status.status = (int)strtol(word(&rest), NULL, 10);
	status.pid = strtoll(word(&rest), NULL, 10);
	bus_status(bus, &status);
}

static void do_raw(struct bus *bus, char *rest)
{
	enum topic topic = topic_named(word(&rest));
	const char *hex = word(&rest);
	size_t size = strlen(hex) / 2;
	unsigned char *bytes = calloc(1, size + 1);

	for (size_t i = 0; bytes && i < size; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &bytes[i]) != 1)
			abort();
	bus_raw(bus, topic, bytes, size);
	free(bytes);
}

static void do_storm(struct bus *bus, char *rest)
{
	enum topic topic = topic_named(word(&rest));
	unsigned count = (unsigned)strtoul(word(&rest), NULL, 10);

	bus_storm(bus, topic, count, (unsigned)strtoul(word(&rest), NULL, 10));
}

static void do_late(struct bus *bus, char *rest)
{
	bus_late(bus, (unsigned)strtoul(word(&rest), NULL, 10));
}

static void tell_data(const char *text, size_t size)
{
	char *whole = strndup(text, size);

	event("user data");
	printf(", \"text\": ");
	json_text(whole);
	event_end();
	free(whole);
}

static void do_data(struct bus *bus, char *rest)
{
	bus_user_data(bus, topic_named(word(&rest)), tell_data);
}

static void do_matched(struct bus *bus, char *rest)
{
	(void)rest;
	tell_matched(bus);
}

/* Words are separated by tabs. */
static const struct {
	const char *name;
	void (*run)(struct bus *bus, char *rest);
} commands[] = {
	{ "start", do_start }, /* FREQUENCY [IGNORE_NODES [IGNORE_TOPICS [SELECT_NODES
				  [SELECT_TOPICS]]]] */
	{ "end", do_end },         { "status", do_status }, /* NODE NUMBER [PID] */
	{ "raw", do_raw }, /* start|end|status|discovery BYTES: hexadecimal, behind a correct header
			    */
	{ "storm", do_storm },     /* start|end|status|discovery COUNT SEED: nonsense */
	{ "late", do_late },       /* MS: what is sent from now on looks so old */
	{ "data", do_data },       /* start|end|status|discovery: USER_DATA of those that match */
	{ "matched", do_matched }, /* subscriptions of each */
};

static void run_line(struct bus *bus, char *line)
{
	const char *name = word(&line);
	struct timespec from;

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(commands[i].name, name) == 0) {
			clock_gettime(CLOCK_MONOTONIC, &from);
			commands[i].run(bus, line);
			event("done");
			printf(", \"from\": %.6f", (double)from.tv_sec + (double)from.tv_nsec / 1e9);
			event_end();
			return;
		}
	fprintf(stderr, "caret_client: no command '%s'\n", name);
	exit(2);
}

static int shell(struct bus *bus)
{
	static char line[1 << 21];

	setvbuf(stdin, NULL, _IONBF, 0);	/* what stdio keeps, poll() does not see */
	while (!interrupted) {
		bus_poll(bus, POLL_MS);
		while (input()) {
			if (!fgets(line, sizeof line, stdin))
				return 0;
			run_line(bus, line);
		}
	}
	return 0;
}

/* ---- options ---- */

enum { IMMEDIATE = 256, BEGIN, FINISH, RETRIES, DOMAIN, HUMBLE, LISTEN, NODE, NO_ENCLAVE, IGNORED };

static const struct option longs[] = {
	/* of the command line */
	{ "recording-frequency", required_argument, NULL, 'f' },
	{ "immediate", no_argument, NULL, IMMEDIATE },
	{ "init-retry-num", required_argument, NULL, RETRIES },
	{ "session-name", required_argument, NULL, 's' }, { "path", required_argument, NULL, 'p' },
	{ "list", no_argument, NULL, 'l' }, { "verbose", no_argument, NULL, 'v' },
	{ "light", no_argument, NULL, IGNORED }, { "record-clock", no_argument, NULL, 'c' },
	{ "subbuffer-size-ust", required_argument, NULL, IGNORED },
	{ "subbuffer-size-kernel", required_argument, NULL, IGNORED },
	/* of the test */
	{ "begin", required_argument, NULL, BEGIN }, { "finish", required_argument, NULL, FINISH },
	{ "domain", required_argument, NULL, DOMAIN }, { "humble", no_argument, NULL, HUMBLE },
	{ "listen", no_argument, NULL, LISTEN }, { "node", required_argument, NULL, NODE },
	{ "no-enclave", no_argument, NULL, NO_ENCLAVE },
	{ NULL, 0, NULL, 0 },
};

static bool parse(int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "f:s:p:lvc", longs, NULL)) != -1)
		switch (option) {
		case 'f':
			options.start.recording_frequency = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case IMMEDIATE: options.immediate = true; break;
		case BEGIN: options.begin = optarg; break;
		case FINISH: options.finish = optarg; break;
		case RETRIES: options.retries = (unsigned)strtoul(optarg, NULL, 10); break;
		case DOMAIN: options.bus.domain = (uint32_t)strtoul(optarg, NULL, 10); break;
		case HUMBLE: options.bus.humble = true; break;
		case LISTEN: options.bus.on_command = on_command; break;
		case NODE: options.bus.node = optarg; break;
		case NO_ENCLAVE: options.bus.enclave = NULL; break;
		case '?': return false;
		default: break;			/* what is about LTTng alone */
		}
	return optind + 1 == argc;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct bus *bus;
	bool shelled;
	int status;

	options.bus.on_status = on_status;
	options.bus.on_nodes = on_nodes;
	if (!parse(argc, argv) || (strcmp(argv[optind], "record") != 0 && strcmp(argv[optind], "shell") != 0)) {
		fprintf(stderr, "usage: %s record|shell [OPTION...]\n", argv[0]);
		return 2;
	}
	shelled = strcmp(argv[optind], "shell") == 0;
	options.bus.forges = shelled;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	bus = bus_open(&options.bus);
	say("joined");
	status = shelled ? shell(bus) : record(bus);
	bus_close(bus);
	return status;
}
