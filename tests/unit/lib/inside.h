/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of programs that record themselves: a session with the real tracer in this process. */
#ifndef KYMO_TEST_INSIDE_H
#define KYMO_TEST_INSIDE_H

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <kymo/kymo.h>
#include <kymo/session.h>

static char place[64];			/* private, holds the runtime directory and traces */

static inline const char *in(const char *name)
{
	static char path[4][128];
	static unsigned next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof path[next], "%s/%s", place, name);
	return path[next];
}

static struct kymo_session *running;	/* of start() */

static inline int clear(void **state)
{
	char command[128];

	(void)state;
	(void)kymo_session_stop(running, NULL);	/* of a test that failed */
	running = NULL;
	snprintf(command, sizeof command, "rm -rf '%s'/t-*", place);
	return system(command);
}

static inline void emit(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		KYMO_INSTANT("inside", "event", ("i", i));
}

static char said[8192];
static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void message(void *context, enum kymo_session_message kind, const char *text)
{
	size_t used;

	(void)context;
	(void)kind;
	pthread_mutex_lock(&said_lock);
	used = strlen(said);
	snprintf(said + used, sizeof said - used, "%s\n", text);
	pthread_mutex_unlock(&said_lock);
}

static inline bool has_said(const char *text)
{
	bool has;

	pthread_mutex_lock(&said_lock);
	has = strstr(said, text);
	pthread_mutex_unlock(&said_lock);
	return has;
}

static inline struct kymo_session *start(const char *path)
{
	const struct kymo_session_options options = { .size = sizeof options, .message = message };
	struct kymo_session *session;

	said[0] = 0;
	if (kymo_session_start(path, &options, &session) < 0)
		fail_msg("%s", kymo_session_error());
	running = session;
	return session;
}

static inline int stop(struct kymo_session *session, struct kymo_session_stats *stats)
{
	running = NULL;
	return kymo_session_stop(session, stats);
}

static inline void good(int result)
{
	if (result < 0)
		fail_msg("%s", kymo_session_error());
}

static inline void bad(int result, const char *why)
{
	assert_int_equal(result, -1);
	if (!strstr(kymo_session_error(), why))
		fail_msg("'%s' has no '%s'", kymo_session_error(), why);
}

/* What babeltrace2 finds. Its messages go to a file: there are many, between very many events. */
static inline void check_trace(const char *path, uint64_t events, uint64_t lost)
{
	static const char mark[] = "Tracer discarded ";
	uint64_t seen = 0, discarded = 0;
	char command[512], line[4096];
	FILE *out;

	if (system("command -v babeltrace2 >/dev/null"))
		skip();
	snprintf(command, sizeof command, "babeltrace2 '%s' 2>'%s/errors' | grep -c inside:event", path, place);
	out = popen(command, "r");
	assert_int_equal(fscanf(out, "%" SCNu64, &seen), 1);
	pclose(out);
	out = fopen(in("errors"), "r");
	assert_non_null(out);
	while (fgets(line, sizeof line, out)) {
		if (!strstr(line, mark))
			fail_msg("babeltrace2: %s", line);
		discarded += strtoull(strstr(line, mark) + strlen(mark), NULL, 10);
	}
	fclose(out);
	assert_int_equal(seen, events);
	assert_int_equal(discarded, lost);
}

/* Until the sink at @path, NULL: the session, has so many events. */
static inline void wait_until(struct kymo_session *session, const char *path, uint64_t events)
{
	struct kymo_session_stats stats = { 0 };

	for (unsigned i = 0; i < 6000 && stats.recorded + stats.unwritten < events; i++) {
		usleep(10000);
		good(kymo_session_statistics(session, path, &stats));
	}
	if (stats.recorded + stats.unwritten != events)
		fail_msg("%" PRIu64 " recorded, %" PRIu64 " unwritten of %" PRIu64 "; said: %s", stats.recorded,
			 stats.unwritten, events, said);
}

/* The region that this process has in the user's own runtime directory, where nobody would remove
 * it after exec(). */
static inline void inside_unlink_region(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof line, maps)) {
		char *path = strchr(line, '/');

		if (path && strstr(path, ".region\n")) {
			path[strcspn(path, "\n")] = 0;
			(void)unlink(path);
		}
	}
	if (maps)
		(void)fclose(maps);
}

/* The tracer has read $KYMO_DIR before main(): begin again with a place of our own. */
static inline void inside_begin(int argc, char **argv)
{
	if (argc < 2) {
		snprintf(place, sizeof place, "/dev/shm/kymo-test-XXXXXX");
		inside_unlink_region();
		if (mkdtemp(place) && !setenv("KYMO_DIR", in("run"), 1))
			(void)execl("/proc/self/exe", argv[0], place, NULL);
		exit(1);
	}
	snprintf(place, sizeof place, "%s", argv[1]);
}

/* Return: that of main(), when the tests gave @result. */
static inline int inside_end(int result)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", place);
	return system(command) || result;
}

#endif
