/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions and their chunks. See relay_model.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "relay/model/relay_packets.h"

#define DATE_MAX 32
#define STRAY_NS INT64_C(5000000000) /* see relay_stray_begins() */

void relay_init(struct relay *relay)
{
	struct relay_limits *limits = &relay->limits;

	limits->connections = limits->connections ? limits->connections : 4096;
	limits->connections_each =
		limits->connections_each ? limits->connections_each : limits->connections;
	limits->sessions = limits->sessions ? limits->sessions : 1024;
	limits->streams = limits->streams ? limits->streams : 16384;
	limits->files = limits->files ? limits->files : UINT64_MAX;
	limits->request = limits->request ? limits->request : (uint64_t)16 << 20;
	limits->requests = limits->requests ? limits->requests : (uint64_t)96 << 20;
	relay->next_session = relay->next_stream = relay->next_trace = relay->next_viewer = 1;
	if (!relay->half_expires_ns)
		relay->half_expires_ns = 10000000000;
}

/* ---- chunks ---- */

void relay_chunk_unref(struct relay_chunk *chunk)
{
	if (chunk && --chunk->refs == 0)
		free(chunk);
}

static struct relay_chunk *chunk_new(uint64_t id, uint64_t created_s, const char *path)
{
	struct relay_chunk *chunk = calloc(1, sizeof(*chunk) + strlen(path) + 1);

	if (chunk) {
		chunk->id = id;
		chunk->created_s = created_s;
		chunk->refs = 1;
		memcpy(chunk->path, path, strlen(path) + 1);
	}
	return chunk;
}

uint32_t relay_create_chunk(struct relay_session *session, uint64_t id, uint64_t created_s,
			    const char *name)
{
	char path[STORE_PATH_MAX];
	int length;

	if (!session->needs_chunk || session->closing_chunk)
		return WIRE_ERR_PROTOCOL;
	if (*name)
		length = snprintf(path, sizeof(path), "%s/%s", session->path, name);
	else if (id == 0)
		length = snprintf(path, sizeof(path), "%s", session->path);
	else
		length = snprintf(path, sizeof(path), "%s/chunk-%llu", session->path, (unsigned long long)id);
	if (length < 0 || (size_t)length >= sizeof(path) || !store_path_is_safe(path) ||
	    strchr(name, '/'))
		return WIRE_ERR_INVALID;
	session->closing_chunk = session->chunk;
	session->chunk = chunk_new(id, created_s, path);
	return session->chunk ? WIRE_OK : WIRE_ERR_UNKNOWN;
}

bool relay_chunk_exists(const struct relay_session *session, uint64_t id)
{
	return (session->chunk && session->chunk->id == id) ||
	       (session->closing_chunk && session->closing_chunk->id == id);
}

/* The first chunk is in the session's directory beside the later chunks: then only its own
 * directories are meant. */
static void each_directory(const struct relay_session *session, const struct relay_chunk *chunk,
			   const char *archive)
{
	struct store *store = &session->relay->store;
	const bool first = strcmp(chunk->path, session->path) == 0;
	char from[STORE_PATH_MAX], to[STORE_PATH_MAX];

	for (const struct relay_trace *trace = session->traces; trace; trace = trace->next) {
		const int top = (int)strcspn(trace->path, "/");

		if (first)
			(void)snprintf(from, sizeof(from), "%s/%.*s", chunk->path, top, trace->path);
		else
			(void)snprintf(from, sizeof(from), "%s", chunk->path);
		if (archive && first)
			(void)snprintf(to, sizeof(to), "%s/%.*s", archive, top, trace->path);
		/* A second trace in the same top directory finds it already moved, which is not a
		 * failure. */
		(void)store_move(store, from, archive && first ? to : archive);
		if (!first)
			return;
	}
}

static void stamp(char *text, size_t size, uint64_t seconds)
{
	const time_t time = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&time, &tm) || !strftime(text, size, "%Y%m%dT%H%M%S+0000", &tm))
		(void)snprintf(text, size, "unknown");
}

uint32_t relay_close_chunk(struct relay_session *session, const struct wire_close_chunk *close,
			   char path[STORE_PATH_MAX])
{
	/* Between CREATE_CHUNK of the next one and CLOSE_CHUNK there are two; the older one is
	 * closed. */
	struct relay_chunk **which =
		session->closing_chunk ? &session->closing_chunk : &session->chunk;
	struct relay_chunk *chunk = *which;
	char begin[DATE_MAX], end[DATE_MAX];

	(void)snprintf(path, STORE_PATH_MAX, "%s", session->path ? session->path : "");
	if (!chunk || chunk->id != close->chunk)
		return WIRE_ERR_PROTOCOL;
	if (close->has_command && close->command == WIRE_CHUNK_DELETE) {
		for (struct relay_stream *stream = session->streams; stream; stream = stream->next)
			relay_drop_parts(stream, chunk->path);
		each_directory(session, chunk, NULL);
	} else if (close->has_command && close->command == WIRE_CHUNK_COMPLETED) {
		stamp(begin, sizeof(begin), chunk->created_s);
		stamp(end, sizeof(end), close->closed_s);
		(void)snprintf(path, STORE_PATH_MAX, "%s/archives/%s-%s-%llu", session->path, begin, end,
			       (unsigned long long)chunk->id);
		each_directory(session, chunk, path);
	}
	*which = NULL;
	relay_chunk_unref(chunk);
	return WIRE_OK;
}

/* ---- sessions ---- */

static void tell_losses(struct relay_session *session)
{
	struct relay *relay = session->relay;
	uint64_t lost = 0, stored = 0;
	unsigned streams = 0;
	char text[512];

	if (session->told)
		return;
	session->told = true;
	for (const struct relay_stream *stream = session->streams; stream; stream = stream->next) {
		lost += stream->lost;
		stored += stream->published;
		streams += stream->lost > 0;
	}
	if (!lost)
		return;
	relay->lost += lost;
	relay->lossy_sessions++;
	(void)snprintf(text, sizeof(text),
		       "%s: in all, %" PRIu64 " packets of %u streams were lost, and %" PRIu64
		       " are stored; "
		       "index/*.lost names those that did not arrive, and `kymo info` counts them",
		       session->name, lost, streams, stored);
	relay->say(relay->context, text);
}

void relay_tell_losses(struct relay *relay)
{
	for (struct relay_session *session = relay->sessions; session; session = session->next)
		if (session->ended && !session->told && relay_is_written(session))
			tell_losses(session);
}

static void session_free(struct relay_session *session)
{
	tell_losses(session);
	while (session->streams) {
		struct relay_stream *stream = session->streams;

		session->streams = stream->next;
		map_del(&session->relay->streams, stream->id, 0);
		relay_free_stream(stream);
	}
	while (session->traces) {
		struct relay_trace *trace = session->traces;

		session->traces = trace->next;
		store_unref(trace->sync);
		free(trace);
	}
	relay_chunk_unref(session->chunk);
	relay_chunk_unref(session->closing_chunk);
	free(session->name);
	free(session->host);
	free(session->path);
	free(session);
}

void relay_free(struct relay *relay)
{
	char text[128];

	while (relay->sessions) {
		struct relay_session *session = relay->sessions;

		relay->sessions = session->next;
		session_free(session);
	}
	map_free(&relay->streams);
	if (relay->lossy_sessions < 2)
		return;
	(void)snprintf(text, sizeof(text),
		       "in all, %" PRIu64 " packets of %" PRIu64 " sessions were lost", relay->lost,
		       relay->lossy_sessions);
	relay->say(relay->context, text);
}

static bool is_idle(const struct relay_session *session)
{
	if (!session->ended || session->users || session->sync.writing)
		return false;
	for (const struct relay_stream *stream = session->streams; stream; stream = stream->next)
		if (stream->writing)
			return false;
	return true;
}

/* Forgets the oldest session that no connection uses; its files stay. */
static bool forget_one(struct relay *relay)
{
	struct relay_session **found = NULL, *session;

	for (struct relay_session **at = &relay->sessions; *at; at = &(*at)->next)
		if (is_idle(*at))
			found = at;
	if (!found)
		return false;
	session = *found;
	*found = session->next;
	relay->session_count--;
	relay->forgotten++;
	if (relay->forgets)
		relay->forgets(relay->watcher, session);
	session_free(session);
	return true;
}

void relay_room_for_files(struct relay *relay, unsigned count)
{
	while (relay->store.files + count > relay->limits.files && forget_one(relay))
		;
}

struct relay_session *relay_create_session(struct relay *relay, const struct relay_create *create,
					   const char *path)
{
	struct relay_session *session;

	if (!*create->name || strchr(create->name, '/') || !*create->host ||
	    strchr(create->host, '/') || (create->minor >= 11 && !*path))
		return NULL;
	if (relay->session_count >= relay->limits.sessions && !forget_one(relay))
		return NULL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return NULL;
	session->relay = relay;
	session->last_stream = &session->streams;
	session->live_timer = create->live_timer;
	session->snapshot = create->snapshot;
	session->is_ours = create->is_ours;
	memcpy(session->uuid, create->uuid, sizeof(session->uuid));
	if (!create->snapshot)		/* snapshots have no index */
		session->entry_size = create->minor < 8 ? CTF_INDEX_OLD
				      : create->is_ours ? sizeof(struct ctf_index_entry)
							: CTF_INDEX_LTTNG;
	session->needs_chunk = create->minor >= 11;
	session->format = create->format;
	session->name = strdup(create->name);
	session->host = strdup(create->host);
	session->path = session->needs_chunk ? strdup(path) : NULL;
	if (!session->name || !session->host || (session->needs_chunk && !session->path)) {
		session_free(session);
		return NULL;
	}
	session->id = relay->next_session++;
	session->next = relay->sessions;
	relay->sessions = session;
	relay->session_count++;
	return session;
}

struct relay_session *relay_find_session(const struct relay *relay, uint64_t id)
{
	struct relay_session *session = relay->sessions;

	while (session && session->id != id)
		session = session->next;
	return session;
}

void relay_announce(struct relay_session *session)
{
	bool news = false;

	for (struct relay_stream *stream = session->streams; stream; stream = stream->next) {
		news |= !stream->announced;
		stream->announced = true;
	}
	session->version += news;
	if (news)
		relay_changed(session);
}

void relay_join_session(struct relay_session *session)
{
	session->producers++;
	session->users++;
}

static void end(struct relay_session *session)
{
	session->ended = true;
	relay_announce(session);
	for (struct relay_stream *stream = session->streams; stream; stream = stream->next) {
		relay_end_datagrams(stream);
		if (!session->is_ours) /* ours go on after a kill, and ask what is stored */
			relay_index_rest(stream);
		relay_give_up(stream, INT64_MAX);
		relay_sync_close(stream);
		if (stream->is_metadata && !stream->writing)
			relay_end_metadata(stream);
	}
}

void relay_leave_session(struct relay_session *session)
{
	/* end() may open a file, for which a session without users is forgotten. */
	if (--session->producers == 0 && !session->ended) {
		if (session->relay->strays)
			session->left_ns = session->relay->now_ns();
		else
			end(session);
	}
	session->users--;
}

/* End the sessions without producers whose last one ended at @until_ns or before. */
static void end_left(struct relay *relay, int64_t until_ns)
{
	struct relay_session *session, *next;

	for (session = relay->sessions; session; session = next) {
		session->users++;
		if (!session->producers && !session->ended && session->left_ns &&
		    session->left_ns <= until_ns)
			end(session);
		next = session->next;
		session->users--;
	}
}

void relay_stray_begins(struct relay *relay)
{
	relay->strays++;
}

void relay_stray_ends(struct relay *relay)
{
	if (--relay->strays == 0)
		end_left(relay, INT64_MAX);
}

void relay_end_left(struct relay *relay)
{
	end_left(relay, relay->now_ns() - STRAY_NS);
}

void relay_cut_off(struct relay_session *session)
{
	for (struct relay_stream *stream = session->streams; stream; stream = stream->next)
		relay_data_abort(stream);
	session->cut_off = true;
	if (!session->ended)
		end(session);
}

bool relay_is_written(const struct relay_session *session)
{
	for (const struct relay_stream *stream = session->streams; stream; stream = stream->next)
		if (stream->writing)
			return false;
	return true;
}
