/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server in a loop of libuv: GET only, an answer per connection.
 *
 * It is not a web server. A request is at most 8 KiB, has some seconds to arrive, and 32
 * connections are open at most; the oldest gives way. Pages of other sites cannot read it with a
 * browser's help: on loopback a request must name this host.
 *
 * Context of all functions: the loop's thread; allocate.
 */
#ifndef KYMO_SERVE_HTTP_H
#define KYMO_SERVE_HTTP_H

#include <stdio.h>
#include <uv.h>

#include "base/err.h"
#include "relay/wire/tls.h"
#include "relay/wire/token.h"

struct serve_http;

struct serve_http_options {
	const char *address;     /* numeric */
	unsigned port;           /* 0: any free one */
	struct tls_context *tls; /* NULL: none */
	const struct token
		*token; /* size 0: none; else "Authorization: Bearer TOKEN" is required */
	/*
	 * Write the page of @path into @out. @accept: the request's Accept, "" if it has none.
	 * @type: set to its content type. Return: an HTTP status: 200, 404 ...
	 */
	int (*page)(void *context, const char *path, const char *accept, FILE *out,
		    const char **type);
	void *context;
};

/** serve_http_begin() - listen. Return: 0, or -1 with @err. */
int serve_http_begin(struct serve_http **http, uv_loop_t *loop,
		     const struct serve_http_options *options, struct kymo_err *err);

/** serve_http_port() - that it listens on. */
unsigned serve_http_port(const struct serve_http *http);

/** serve_http_end() - close all; the loop must run once more until it has no handles. */
void serve_http_end(struct serve_http *http);

/** serve_http_free() - after the loop has ended; NULL is fine. */
void serve_http_free(struct serve_http *http);

#endif
