/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests with a body or a file, by libcurl, which is loaded when the first connection is
 * created: a kymo that pushes nothing does not load it.
 *
 * Context of all functions: a connection belongs to one thread. They allocate;
 * post_send() blocks.
 */
#ifndef KYMO_FLEET_POST_H
#define KYMO_FLEET_POST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct post;

#define POST_ANSWER_MAX 4096u
#define POST_HEADERS_MAX 16u

struct post_options {
	const char *ca, *cert, *key; /* PEM files; "": the system's; none */
	uint64_t bandwidth;	     /* bytes a second; 0: no limit */
	const atomic_bool *stop;     /* a request ends soon after it becomes true */
};

struct post_request {
	const char *url;
	const char *header[POST_HEADERS_MAX]; /* "Name: value" */
	unsigned headers;
	const void *body;
	uint64_t size;
	/* PUT the first @size bytes of @file instead of @body, signed as S3 requires: */
	const char *signature; /* of libcurl, "aws:amz:REGION:s3"; NULL: POST */
	const char *user, *secret;
	int file;
};

struct post_answer {
	long status;			    /* of HTTP; 0: there was no answer: see @why */
	char why[256];			    /* never contains a header or the body that was sent */
	char type[64];			    /* Content-Type; "": none */
	bool tagged;                        /* it has an ETag, as a store of objects sends it */
	char body[POST_ANSWER_MAX + 1];	    /* its beginning */
	size_t size;			    /* of @body */
};

/** post_open() - Return: 0, or -1 with @err: no libcurl. @options must stay valid. */
int post_open(struct post **post, const struct post_options *options, struct kymo_err *err);
void post_close(struct post *post);

/** post_signs() - can this libcurl sign requests for S3? Return: 0, or -1 with @err. */
int post_signs(struct post *post, struct kymo_err *err);

/** post_send() - POST or PUT, and wait for the answer: at most a minute more than the bandwidth
 * requires; of a file, than 10 kB a second do. */
void post_send(struct post *post, const struct post_request *request, struct post_answer *answer);

#endif
