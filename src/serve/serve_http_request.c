/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_http.h: who may ask, and for what. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "serve/serve_http_internal.h"

/* The value of a header, without blanks around it. Return: its length; 0: there is none. */
static size_t header(const char *request, const char *name, const char **value)
{
	const size_t length = strlen(name);
	const char *line = request;

	while ((line = strstr(line, "\r\n")) != NULL) {
		line += 2;
		if (strncasecmp(line, name, length) != 0 || line[length] != ':')
			continue;
		line += length + 1;
		line += strspn(line, " \t");
		*value = line;
		return strcspn(line, "\r\n");
	}
	*value = "";
	return 0;
}

/* A browser that was led here by another site's name does not name this host. */
static bool is_our_host(bool loopback, const char *request)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
	const char *host;
	const size_t length = header(request, "Host", &host);

	if (!loopback || !length)
		return true;
	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		const size_t name = strlen(names[i]);

		if (length >= name && !strncasecmp(host, names[i], name) &&
		    (length == name || host[name] == ':'))
			return true;
	}
	return false;
}

/* The comparison takes the same time wherever the two differ. */
static bool has_token(const struct token *token, const char *request)
{
	static const char bearer[] = "Bearer ";
	const char *value;
	size_t length = header(request, "Authorization", &value);
	unsigned differs = 0;

	if (!token || !token->size)
		return true;
	if (length < strlen(bearer) || strncasecmp(value, bearer, strlen(bearer)) != 0)
		return false;
	value += strlen(bearer);
	length -= strlen(bearer);
	if (length != token->size)
		return false;
	for (size_t i = 0; i < length; i++)
		differs |= (unsigned)(uint8_t)value[i] ^ token->bytes[i];
	return !differs;
}

const char *http_status_text(int status)
{
	switch (status) {
	case 200:
		return "200 OK";
	case 400:
		return "400 Bad Request";
	case 401:
		return "401 Unauthorized";
	case 404:
		return "404 Not Found";
	case 405:
		return "405 Method Not Allowed";
	case 421:
		return "421 Misdirected Request";
	case 503:
		return "503 Service Unavailable";
	default:
		return "500 Internal Server Error";
	}
}

int http_answer(const struct serve_http_options *options, bool loopback, char *request, FILE *out,
		const char **type)
{
	const char *accept, *path = request + 4;
	char copy[256];
	size_t length;

	if (strncmp(request, "GET ", 4) != 0)
		return 405;
	if (!is_our_host(loopback, request))
		return 421;
	if (!has_token(options->token, request))
		return 401;
	length = header(request, "Accept", &accept);
	snprintf(copy, sizeof(copy), "%.*s",
		 (int)(length < sizeof(copy) ? length : sizeof(copy) - 1), accept);
	length = strcspn(path, " ?\r\n");
	if (*path != '/' || !path[length])
		return 400;
	request[4 + length] = 0;
	return options->page(options->context, path, copy, out, type);
}
