/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's end of the control socket. */
#include "recorder/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_get.h"

#define PATIENCE_MS	5000	/* for a request to arrive, for a reply to be read */
#define DEPTH_MAX	8	/* of a request's JSON */

struct control {
	const struct control_request *requests;
	void *context;
	int dir;			/* the runtime directory */
	uv_pipe_t listener;
	struct control_call *clients;
	unsigned count;
};

/* One client, from its connection to its end. */
struct control_call {
	struct control *control;	/* NULL: it was closed */
	struct control_call *next;
	uv_pipe_t pipe;
	uv_timer_t patience;
	uv_write_t write;
	unsigned open;			/* of the two handles */
	bool foreign;			/* neither this user nor root */
	bool asked;			/* the handler has it, and has not answered */
	bool gone;			/* closing */
	char *line;
	size_t used;
	char *reply;
};

/* ---- the end of a client ---- */

static void call_free(struct control_call *call)
{
	free(call->line);
	free(call->reply);
	free(call);
}

static void on_call_closed(uv_handle_t *handle)
{
	struct control_call *call = handle->data;

	/* While a handler has it, it stays for control_reply(). */
	if (--call->open == 0 && !call->asked)
		call_free(call);
}

static void call_close(struct control_call *call)
{
	struct control *control = call->control;

	if (call->gone)
		return;
	call->gone = true;
	for (struct control_call **at = &control->clients; *at; at = &(*at)->next)
		if (*at == call) {
			*at = call->next;
			control->count--;
			break;
		}
	uv_close((uv_handle_t *)&call->pipe, on_call_closed);
	uv_close((uv_handle_t *)&call->patience, on_call_closed);
}

static void on_impatient(uv_timer_t *timer)
{
	call_close(timer->data);
}

/* ---- replies ---- */

static void on_written(uv_write_t *write, int status)
{
	(void)status;			/* a client that does not read its reply does not get it */
	call_close(write->data);
}

static void send_object(struct control_call *call, struct json_object *object)
{
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE);
	uv_buf_t buffer;

	if (!text || asprintf(&call->reply, "%s\n", text) < 0) {
		call->reply = NULL;
		call_close(call);
		return;
	}
	buffer = uv_buf_init(call->reply, (unsigned)strlen(call->reply));
	call->write.data = call;
	(void)uv_timer_start(&call->patience, on_impatient, PATIENCE_MS, 0);
	if (uv_write(&call->write, (uv_stream_t *)&call->pipe, &buffer, 1, on_written) < 0)
		call_close(call);
}

static void answer(struct control_call *call, struct json_object *object)
{
	call->asked = false;
	if (!call->gone)
		send_object(call, object);
	else if (!call->open)
		call_free(call);
	json_object_put(object);
}

void control_reply(struct control_call *call, struct json_object *reply)
{
	if (!reply)
		reply = json_object_new_object();
	json_object_object_add(reply, "ok", json_object_new_boolean(true));
	answer(call, reply);
}

void control_refuse(struct control_call *call, const struct kymo_err *err)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "ok", json_object_new_boolean(false));
	json_object_object_add(object, "status", json_object_new_int((int)err->status));
	json_object_object_add(object, "error", json_object_new_string(err->text));
	answer(call, object);
}

/* ---- requests ---- */

__attribute__((format(printf, 2, 3)))
static void refuse(struct control_call *call, const char *format, ...)
{
	struct kymo_err err = { .status = KYMO_EXIT_USAGE };
	va_list args;

	va_start(args, format);
	(void)vsnprintf(err.text, sizeof err.text, format, args);
	va_end(args);
	control_refuse(call, &err);
}

static void unknown_request(struct control_call *call, const char *name)
{
	char known[512] = "";
	size_t used = 0;

	for (const struct control_request *row = call->control->requests; row->name; row++)
		if (used + strlen(row->name) + 3 < sizeof known)
			used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
						 row->name);
	refuse(call, "unknown request '%.64s'; this recorder knows: %s", name, known);
}

static void on_line(struct control_call *call)
{
	struct json_tokener *parser = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *request = NULL;
	const struct control_request *row = call->control->requests;
	const char *name;

	call->asked = true;
	(void)uv_read_stop((uv_stream_t *)&call->pipe);
	(void)uv_timer_stop(&call->patience);
	if (parser)
		request = json_tokener_parse_ex(parser, call->line, (int)call->used);
	name = json_get_text(request, "request");
	while (name && row->name && strcmp(row->name, name) != 0)
		row++;
	if (!name)
		refuse(call, "a request is one line with a JSON object like {\"request\":\"snapshot\"}");
	else if (row->name)
		row->handle(call->control->context, call, request);
	else
		unknown_request(call, name);
	json_object_put(request);
	if (parser)
		json_tokener_free(parser);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct control_call *call = handle->data;

	(void)suggested;
	*buffer = uv_buf_init(call->line + call->used, (unsigned)(CONTROL_LINE_MAX - call->used));
}

static void on_bytes(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
	struct control_call *call = stream->data;
	char *end;

	(void)buffer;
	if (got < 0) {			/* gone; or, with UV_ENOBUFS, a line without end */
		call_close(call);
		return;
	}
	end = memchr(call->line + call->used, '\n', (size_t)got);
	call->used += (size_t)got;
	if (!end)
		return;
	call->used = (size_t)(end - call->line);
	on_line(call);
}

/* ---- connections ---- */

/* The directory is 0700 already; this check also holds if the user has opened it. */
static bool is_allowed(struct control_call *call)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	int fd;

	if (uv_fileno((const uv_handle_t *)&call->pipe, &fd) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return false;
	call->foreign = peer.uid != geteuid() && peer.uid != 0;
	return !call->foreign || geteuid() == 0;
}

bool control_is_foreign(const struct control_call *call)
{
	return call->foreign;
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct control *control = listener->data;
	struct control_call *call = status < 0 ? NULL : calloc(1, sizeof *call);

	if (!call)
		return;
	call->control = control;
	call->next = control->clients;
	control->clients = call;
	control->count++;
	call->open = 2;
	(void)uv_pipe_init(listener->loop, &call->pipe, 0);	/* neither can fail */
	(void)uv_timer_init(listener->loop, &call->patience);
	call->pipe.data = call->patience.data = call;
	call->line = malloc(CONTROL_LINE_MAX);
	if (!call->line || uv_accept(listener, (uv_stream_t *)&call->pipe) < 0 ||
	    control->count > CONTROL_CLIENTS_MAX || !is_allowed(call) ||
	    uv_timer_start(&call->patience, on_impatient, PATIENCE_MS, 0) < 0 ||
	    uv_read_start((uv_stream_t *)&call->pipe, on_room, on_bytes) < 0)
		call_close(call);
}

/* ---- the socket ---- */

static int listen_in(struct control *control, struct kymo_err *err)
{
	char path[64];
	struct stat owner;
	mode_t mask;
	int rc;

	/* Through the descriptor: the path of a socket may have 107 bytes only. */
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d/" CONTROL_NAME, control->dir);
	(void)unlinkat(control->dir, CONTROL_NAME, 0);
	mask = umask(0177);
	rc = uv_pipe_bind(&control->listener, path);
	(void)umask(mask);
	if (rc == 0)
		rc = uv_listen((uv_stream_t *)&control->listener, CONTROL_CLIENTS_MAX,
			       on_connection);
	/* Root records for another user: that user may ask, too. */
	if (rc == 0 && geteuid() == 0 && fstat(control->dir, &owner) == 0 && owner.st_uid != 0 &&
	    fchownat(control->dir, CONTROL_NAME, owner.st_uid, owner.st_gid, AT_SYMLINK_NOFOLLOW) <
		    0)
		rc = -errno;
	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot create the socket " CONTROL_NAME " in the runtime "
				"directory: %s", uv_strerror(rc)) : 0;
}

int control_open(struct control **result, uv_loop_t *loop, const char *runtime_dir,
		 const struct control_request *requests, void *context, struct kymo_err *err)
{
	struct control *control = calloc(1, sizeof *control);

	if (!control)
		return err_no_memory(err);
	control->requests = requests;
	control->context = context;
	(void)uv_pipe_init(loop, &control->listener, 0);
	control->listener.data = control;
	*result = control;
	control->dir = open(runtime_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (control->dir < 0)
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot open %s: %s", runtime_dir, strerror(errno));
	else if (listen_in(control, err) == 0)
		return 0;
	control_close(control);
	*result = NULL;
	return -1;
}

static void on_listener_closed(uv_handle_t *handle)
{
	struct control *control = handle->data;

	if (control->dir >= 0)
		(void)close(control->dir);
	free(control);
}

void control_close(struct control *control)
{
	if (!control)
		return;
	while (control->clients) {
		struct control_call *call = control->clients;

		call->asked = false;
		call_close(call);
	}
	if (control->dir >= 0)
		(void)unlinkat(control->dir, CONTROL_NAME, 0);
	uv_close((uv_handle_t *)&control->listener, on_listener_closed);
}
