/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as requests of HTTP: to `kymo serve`, in pieces, with and without a token, and to the
 * page of `kymo open`. The first byte says which. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/verbs/open/ui_reply.h"
#include "fuzz_file.h"
#include "serve/serve_http.h"

static uv_loop_t loop;
static struct serve_http *servers[2];
static struct ui_place place = { .port = 9001, .key = "0123456789abcdef", .name = "trace", .page = "page", .page_size = 4, .page_head = "" };

static int on_page(void *context, const char *path, const char *accept, FILE *out,
		   const char **type)
{
	(void)context;
	*type = "text/plain";
	return fprintf(out, "%s %s\n", path, accept) < 0 || strcmp(path, "/") != 0 ? 404 : 200;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct token token = { TOKEN_MIN, "0123456789abcdef" };
	struct serve_http_options options = { .address = "127.0.0.1", .page = on_page };
	struct kymo_err err;

	(void)argc, (void)argv;
	if (uv_loop_init(&loop))
		abort();
	for (int i = 0; i < 2; i++) {
		options.token = i ? &token : NULL;
		if (serve_http_begin(&servers[i], &loop, &options, &err))
			abort();
	}
	(void)snprintf(place.folder, sizeof(place.folder), "%s", KYMO_FIXTURES);
	(void)snprintf(place.trace, sizeof(place.trace), "%s/lifecycle/metadata", KYMO_FIXTURES);
	return 0;
}

static void turn(void)
{
	for (int i = 0; i < 4; i++)
		(void)uv_run(&loop, UV_RUN_NOWAIT);
}

static void to_serve(const struct serve_http *http, const uint8_t *data, size_t size, size_t piece)
{
	const struct linger at_once = { 1, 0 };	/* or all ports are soon in TIME_WAIT */
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)serve_http_port(http)),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char reply[65536];

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		abort();
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	turn();
	for (size_t some; size; data += some, size -= some) {
		some = size < piece ? size : piece;
		if (send(fd, data, some, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)some)
			break;
		turn();
	}
	(void)!recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
	(void)close(fd);
	turn();
}

static void to_open(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct ui_reply reply = { .file = -1 };

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	ui_reply(&place, text, &reply);
	if (!reply.head_size || reply.head_size >= sizeof(reply.head))
		abort();
	if (reply.file >= 0) {
		char link[64], path[4096];
		ssize_t length;

		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", reply.file);
		length = readlink(link, path, sizeof(path) - 1);
		path[length > 0 ? length : 0] = 0;
		if (strncmp(path, KYMO_FIXTURES, strlen(KYMO_FIXTURES)) != 0)
			abort();	/* a file elsewhere */
		(void)close(reply.file);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (*data % 3 == 2)
		to_open(data + 1, size - 1);
	else
		to_serve(servers[*data % 3], data + 1, size - 1, 1 + *data * 16);
	return 0;
}
