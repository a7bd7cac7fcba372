/* SPDX-License-Identifier: Apache-2.0 */
/* Connections (serve_http.c), and the requests that they bring (serve_http_request.c). */
#ifndef KYMO_SERVE_HTTP_INTERNAL_H
#define KYMO_SERVE_HTTP_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "serve/serve_http.h"

/**
 * http_answer() - a request that has arrived whole, with its headers
 * @loopback: only this machine reaches the server
 * @request: is cut behind its path
 * @type: of the page; stays as it is if there is none
 *
 * Return: the status, such as 200; the page, if there is one, is in @out.
 */
int http_answer(const struct serve_http_options *options, bool loopback, char *request, FILE *out,
		const char **type);

/** http_status_text() - "404 Not Found" */
const char *http_status_text(int status);

#endif
