/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes on the control socket. The first byte says who sends them: a client that asks a
 * recorder, in pieces of one size, or a recorder that answers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "fuzz_file.h"
#include "recorder/control/control.h"

static char folder[64];
static struct rundir dir;
static uv_loop_t loop;
static int listener = -1; /* of the recorder that lies */
static const uint8_t *answer;
static size_t answer_size;
static sem_t answered;

static void on_request(void *context, struct control_call *call, struct json_object *request)
{
	const struct kymo_err err = { .status = KYMO_EXIT_FAILED, .text = "no" };
	struct json_object *reply = json_object_new_object();

	(void)context;
	if (json_object_object_get_ex(request, "refuse", NULL)) {
		json_object_put(reply);
		control_refuse(call, &err);
		return;
	}
	(void)json_object_object_add(reply, "was", json_object_get(request));
	control_reply(call, reply);
}

static const struct control_request requests[] = { { "snapshot", on_request }, { "pause", on_request }, { 0 } };

static int connect_to(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/" CONTROL_NAME, folder);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		abort();
	return fd;
}

static void turn(void)
{
	for (int i = 0; i < 4; i++)
		(void)uv_run(&loop, UV_RUN_NOWAIT);
}

static void ask(const uint8_t *data, size_t size, size_t piece)
{
	struct control *control;
	struct kymo_err err;
	char reply[CONTROL_LINE_MAX];
	int fd;

	if (control_open(&control, &loop, folder, requests, NULL, &err))
		abort();
	fd = connect_to();
	turn();
	for (size_t some; size; data += some, size -= some) {
		some = size < piece ? size : piece;
		if (send(fd, data, some, MSG_NOSIGNAL) != (ssize_t)some)
			break;
		turn();
	}
	(void)!recv(fd, reply, sizeof(reply), 0);
	(void)close(fd);
	turn();
	control_close(control);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
}

/* A recorder: it takes a connection, answers, and is gone. */
static void *lie(void *context)
{
	(void)context;
	for (;;) {
		const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		char request[256];

		if (fd < 0)
			return NULL;
		(void)!recv(fd, request, sizeof(request), 0);
		(void)!send(fd, answer, answer_size, MSG_NOSIGNAL);
		(void)close(fd);
		(void)sem_post(&answered);
	}
}

static void listen_and_lie(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pthread_t thread;

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/lies/" CONTROL_NAME, folder);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sem_init(&answered, 0, 0) || listener < 0 ||
	    bind(listener, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 8) || pthread_create(&thread, NULL, lie, NULL) ||
	    pthread_detach(thread))
		abort();
}

static void be_answered(const uint8_t *data, size_t size)
{
	struct json_object *request = json_object_new_object(), *reply;
	struct kymo_err err = { 0 };
	int rc;

	answer = data;
	answer_size = size;
	(void)json_object_object_add(request, "request", json_object_new_string("pause"));
	rc = control_ask(&dir, request, 10000, &reply, &err);
	(void)sem_wait(&answered);
	if (rc > 0 || (rc < 0 && !err.text[0]) || (rc == 0 && !reply))
		abort();
	json_object_put(reply);
	json_object_put(request);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	(void)snprintf(folder, sizeof(folder), "%s", fuzz_folder_make());
	(void)snprintf(dir.path, sizeof(dir.path), "%s/lies", folder);
	if (mkdir(dir.path, 0700))
		abort();
	dir.fd = open(dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	listen_and_lie();
	return uv_loop_init(&loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (*data % 2)
		be_answered(data + 1, size - 1);
	else
		ask(data + 1, size - 1, 1 + *data * 16);
	return 0;
}
