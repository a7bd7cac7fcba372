/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a recorder: blocking, with one deadline for everything. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/now.h"
#include "recorder/control/control.h"

struct asking {
	int fd;
	int64_t until_ms;
	char line[CONTROL_LINE_MAX];
	size_t used;
};

static int64_t now_ms(void)
{
	return now_ns() / 1000000;
}

/* Return: 0; -errno: -ETIMEDOUT when the time is over. */
static int wait_until(const struct asking *asking, short events)
{
	struct pollfd poll_fd = { .fd = asking->fd, .events = events };
	int64_t left = asking->until_ms - now_ms();
	int rc = left > 0 ? poll(&poll_fd, 1, (int)left) : 0;

	if (rc < 0 && errno != EINTR)
		return -errno;
	return rc == 0 ? -ETIMEDOUT : 0;
}

static int send_text(const struct asking *asking, const char *text, size_t size)
{
	while (size) {
		ssize_t done = send(asking->fd, text, size, MSG_NOSIGNAL);
		int rc;

		if (done > 0) {
			text += done;
			size -= (size_t)done;
			continue;
		}
		if (done < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		rc = wait_until(asking, POLLOUT);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int receive_line(struct asking *asking)
{
	for (;;) {
		ssize_t got = recv(asking->fd, asking->line + asking->used,
				   sizeof asking->line - asking->used, 0);
		int rc;

		if (got > 0) {
			asking->used += (size_t)got;
			if (memchr(asking->line, '\n', asking->used))
				return 0;
			if (asking->used == sizeof asking->line)
				return -EMSGSIZE;
			continue;
		}
		if (got == 0)
			return -ECONNRESET;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		rc = wait_until(asking, POLLIN);
		if (rc < 0)
			return rc;
	}
}

/* Return: 0; 1: no recorder listens; -errno. */
static int connect_to(struct asking *asking, const struct rundir *dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" CONTROL_NAME, dir->fd);
	asking->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (asking->fd < 0)
		return -errno;
	while (connect(asking->fd, (struct sockaddr *)&address, sizeof address) < 0) {
		const struct timespec pause = { .tv_nsec = 10000000 };

		if (errno == ENOENT || errno == ECONNREFUSED)
			return 1;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (now_ms() >= asking->until_ms)
			return -ETIMEDOUT;	/* too many clients at the same time */
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int exchange(struct asking *asking, const struct rundir *dir, struct json_object *request)
{
	const char *text = json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN);
	int rc = connect_to(asking, dir);

	if (rc == 0)
		rc = text ? send_text(asking, text, strlen(text)) : -ENOMEM;
	if (rc == 0)
		rc = send_text(asking, "\n", 1);
	return rc == 0 ? receive_line(asking) : rc;
}

/* The error and the exit status that the recorder sent. */
static int refused(struct json_object *reply, struct kymo_err *err)
{
	const char *text = json_get_text(reply, "error");
	const int number = json_object_get_int(json_get(reply, "status"));
	const bool known = number > KYMO_EXIT_OK && number <= KYMO_EXIT_EMPTY;

	return err_set(err, known ? (enum kymo_exit)number : KYMO_EXIT_FAILED, "%s",
		       text ? text : "the recorder refused, and sent no reason");
}

int control_ask(const struct rundir *dir, struct json_object *request, int timeout_ms,
		struct json_object **reply, struct kymo_err *err)
{
	struct asking *asking = calloc(1, sizeof *asking);
	int rc;

	*reply = NULL;
	if (!asking)
		return err_no_memory(err);
	asking->until_ms = now_ms() + timeout_ms;
	rc = exchange(asking, dir, request);
	if (rc == 0) {
		*strchrnul(asking->line, '\n') = 0;	/* there is one */
		*reply = json_tokener_parse(asking->line);
		if (!json_object_is_type(*reply, json_type_object))
			rc = -EPROTO;
	}
	if (asking->fd >= 0)
		(void)close(asking->fd);
	free(asking);
	if (rc < 0)
		rc = err_set(err, KYMO_EXIT_FAILED, "the recorder of %s: %s", dir->path,
			     rc == -ETIMEDOUT ? "no answer; does it hang?" :
			     rc == -ECONNRESET ? "it ended without an answer" : strerror(-rc));
	else if (rc == 0 && !json_object_get_boolean(json_get(*reply, "ok")))
		rc = refused(*reply, err);
	if (rc) {
		json_object_put(*reply);
		*reply = NULL;
	}
	return rc;
}
