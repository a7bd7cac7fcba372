/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that records itself, and sends what it records to a socket: a sink of its own
 * (kymo/sink.h).
 *
 *     nc -l 127.0.0.1 7000 &
 *     sender 127.0.0.1 7000
 *
 * Each event is a line of text: time in ns, process, thread, provider:name, and its fields.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/session.h>
#include <kymo/sink.h>

/* ---- the sink: kymo calls these functions in a thread of its own, so they may wait for the
 * network ---- */

static void print_value(FILE *to, const struct kymo_sink_value *value)
{
	switch (value->kind) {
	case KYMO_SINK_TEXT:
		fprintf(to, "%s", value->text);
		break;
	case KYMO_SINK_SIGNED:
		fprintf(to, "%" PRId64, value->integer);
		break;
	case KYMO_SINK_FLOAT:
		fprintf(to, "%g", value->real);
		break;
	case KYMO_SINK_BYTES:
		fprintf(to, "(%zu bytes)", value->size);
		break;
	default:
		fprintf(to, "%" PRIu64, value->number);
	}
}

static void on_begin(void *context, const struct kymo_sink_start *start)
{
	fprintf(context, "begin %" PRIu64 " %" PRId64 "\n", start->ns, start->realtime_ns);
}

static void on_declare(void *context, const struct kymo_sink_class *declared)
{
	fprintf(context, "class %s:%s\n", declared->provider, declared->name);
}

static int on_packet(void *context, const struct kymo_sink_packet *packet)
{
	struct kymo_sink_event event = { 0 };
	struct kymo_sink_value value;
	FILE *to = context;

	if (packet->lost)
		fprintf(to, "lost %" PRIu64 " %s/%s\n", packet->lost, packet->process,
			packet->thread);
	while (kymo_sink_next(packet, &event)) {
		fprintf(to, "%" PRIu64 " %s/%d %s:%s", event.ns, packet->process, event.tid,
			event.declared->provider, event.declared->name);
		for (unsigned i = 0; kymo_sink_get(&event, i, &value); i++) {
			fprintf(to, " %s=", event.declared->field[i].name);
			print_value(to, &value);
		}
		fputc('\n', to);
	}
	return fflush(to) ? -1 : 0; /* -1: the events of this packet count as lost */
}

static void on_end(void *context, const struct kymo_sink_totals *totals)
{
	fprintf(context, "end %" PRIu64 " events, %" PRIu64 " lost\n", totals->events,
		totals->lost);
	(void)fflush(context);
}

/* ---- the program ---- */

static void work(unsigned steps)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (unsigned step = 0; step < steps; step++) {
		KYMO_SPAN("control", "step", ("step", step));
		KYMO_COUNTER("control", "load", step * 0.5);
		(void)nanosleep(&pause, NULL);
	}
}

static FILE *connect_to(const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return NULL;
	if (inet_pton(AF_INET, address, &to.sin_addr) == 1 &&
	    !connect(fd, (struct sockaddr *)&to, sizeof to))
		return fdopen(fd, "w");
	(void)close(fd);
	return NULL;
}

static int record(struct kymo_sink *sink, unsigned steps)
{
	const struct kymo_session_options options = { .size = sizeof options, .sink = sink };
	struct kymo_session_stats stats;
	struct kymo_session *session;

	if (kymo_session_start(NULL, &options, &session) < 0)
		return -1;
	work(steps);
	if (kymo_session_stop(session, &stats) < 0)
		return -1;
	printf("%" PRIu64 " events recorded, %" PRIu64 " dropped\n", stats.recorded, stats.dropped);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *to = argc > 2 ? connect_to(argv[1], argv[2]) : NULL;
	const struct kymo_sink_options options = {
		.size = sizeof options,
		.name = "sender",
		.context = to,
		.begin = on_begin,
		.declare = on_declare,
		.packet = on_packet,
		.end = on_end,
	};
	struct kymo_sink *sink = to ? kymo_sink_create(&options) : NULL;
	int result;

	if (!sink) {
		fprintf(stderr, "usage: sender ADDRESS PORT [STEPS], where something listens\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN); /* a receiver that goes away is an error of fflush() */
	result = record(sink, argc > 3 ? (unsigned)atoi(argv[3]) : 100);
	if (result < 0)
		fprintf(stderr, "sender: %s\n", kymo_session_error());
	(void)kymo_sink_free(sink); /* waits until all is sent */
	(void)fclose(to);
	return result < 0;
}
