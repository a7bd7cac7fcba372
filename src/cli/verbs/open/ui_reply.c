/* SPDX-License-Identifier: Apache-2.0 */
/* Requests come from any program on this machine, so each of them is checked. */
#include "cli/verbs/open/ui_reply.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"

#define TARGET_MAX 2048

static const char *type_of(const char *path)
{
	static const struct {
		const char *end, *type;
	} types[] = {
		{ ".html", "text/html; charset=utf-8" },
		{ ".js", "text/javascript; charset=utf-8" },
		{ ".css", "text/css; charset=utf-8" },
		{ ".json", "application/json" },
		{ ".map", "application/json" },
		{ ".wasm", "application/wasm" },
		{ ".svg", "image/svg+xml" },
		{ ".png", "image/png" },
		{ ".ico", "image/x-icon" },
		{ ".woff2", "font/woff2" },
		{ ".txt", "text/plain; charset=utf-8" },
	};
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < COUNT_OF(types); i++)
		if (!strcmp(dot, types[i].end))
			return types[i].type;
	return "application/octet-stream";
}

/* @more: further lines */
static void set_head(struct ui_reply *reply, const char *status, const char *type, uint64_t size,
		     const char *more)
{
	int length = snprintf(reply->head, sizeof(reply->head),
			      "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %llu\r\n"
			      "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n"
			      "Cross-Origin-Resource-Policy: same-origin\r\n"
			      "Referrer-Policy: no-referrer\r\n%sConnection: close\r\n\r\n",
			      status, type, (unsigned long long)size, more);

	reply->head_size = (size_t)length < sizeof(reply->head) ? (size_t)length : 0;
}

void ui_reply_error(const char *status, struct ui_reply *reply)
{
	reply->file = -1;
	reply->size = 0;
	set_head(reply, status, "text/plain; charset=utf-8", strlen(status) + 1, "");
	reply->head_size +=
		(size_t)snprintf(reply->head + reply->head_size,
				 sizeof(reply->head) - reply->head_size, "%s\n", status);
}

static int digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The path of @target, which ends at a blank, decoded. Return: false: it is not a path. */
static bool decode(const char *target, char path[TARGET_MAX])
{
	size_t size = 0;

	if (*target != '/')
		return false;
	for (; *target && *target != ' ' && *target != '?' && *target != '#'; target++) {
		int value = (unsigned char)*target;

		if (value == '%') {
			const int high = digit(target[1]), low = high < 0 ? -1 : digit(target[2]);

			if (low < 0)
				return false;
			value = high << 4 | low;
			target += 2;
		}
		if (value < ' ' || value == '\\' || value == 0x7f || size + 1 >= TARGET_MAX)
			return false;
		path[size++] = (char)value;
	}
	path[size] = 0;
	return true;
}

/* Whether the header Host names this server: a page of another site that has its name lead to
 * 127.0.0.1 fails here. */
static bool is_for_us(const struct ui_place *place, const char *request)
{
	static const char *const hosts[] = { "127.0.0.1", "localhost" };
	char host[64];

	for (const char *line = strstr(request, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
		if (strncasecmp(line + 2, "Host:", 5) != 0)
			continue;
		line += 7 + strspn(line + 7, " \t");
		for (size_t i = 0; i < COUNT_OF(hosts); i++) {
			const int size =
				snprintf(host, sizeof(host), "%s:%u\r\n", hosts[i], place->port);

			if (!strncasecmp(line, host, (size_t)size))
				return true;
		}
		return false;
	}
	return false;
}

/* No part of @path leads upwards. A symbolic link may still do; real_file() checks where the file
 * is. */
static bool goes_up(const char *path)
{
	for (const char *at = strstr(path, "/.."); at; at = strstr(at + 1, "/.."))
		if (!at[3] || at[3] == '/')
			return true;
	return false;
}

/* The file in the folder that @path means. Return: false: none. */
static bool real_file(const struct ui_place *place, const char *path, char file[PATH_MAX])
{
	char joined[sizeof(place->folder) + TARGET_MAX];
	const size_t size = strlen(place->folder);

	(void)snprintf(joined, sizeof(joined), "%s%s", place->folder,
		       strcmp(path, "/") ? path : "/index.html");
	return realpath(joined, file) && !strncmp(file, place->folder, size) && file[size] == '/';
}

static void give_page(const struct ui_place *place, struct ui_reply *reply)
{
	reply->text = place->page;
	reply->size = place->page_size;
	reply->is_page = true;
	set_head(reply, "200 OK", "text/html; charset=utf-8", reply->size, place->page_head);
}

/* A stream of events without any. */
static void stay(struct ui_reply *reply)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
				   "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
				   "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n"
				   ": \n\n";

	memcpy(reply->head, text, sizeof(text));
	reply->head_size = sizeof(text) - 1;
	reply->stays = true;
}

static void give_file(const char *path, struct ui_reply *reply)
{
	struct stat status;

	reply->file = file_open(path);
	if (reply->file < 0 || fstat(reply->file, &status)) {
		if (reply->file >= 0)
			(void)close(reply->file);
		ui_reply_error("404 Not Found", reply);
		return;
	}
	reply->size = (uint64_t)status.st_size;
	set_head(reply, "200 OK", type_of(path), reply->size, "");
}

static void find(const struct ui_place *place, const char *path, struct ui_reply *reply)
{
	const size_t key_size = strlen(place->key);
	char file[PATH_MAX];

	if (!strncmp(path + 1, place->key, key_size)) {
		const char *rest = path + 1 + key_size;

		if (!*rest || !strcmp(rest, "/"))
			give_page(place, reply);
		else if (!strcmp(rest, "/alive"))
			stay(reply);
		else if (*place->trace && *rest == '/' && !strcmp(rest + 1, place->name))
			give_file(place->trace, reply);
		else
			ui_reply_error("404 Not Found", reply);
	} else if (goes_up(path)) {
		ui_reply_error("403 Forbidden", reply);
	} else if (*place->folder && real_file(place, path, file)) {
		give_file(file, reply);
	} else {
		ui_reply_error("404 Not Found", reply);
	}
}

void ui_reply(const struct ui_place *place, const char *request, struct ui_reply *reply)
{
	const bool head = !strncmp(request, "HEAD ", 5);
	char path[TARGET_MAX];

	memset(reply, 0, sizeof(*reply));
	reply->file = -1;
	if (!head && strncmp(request, "GET ", 4) != 0)
		ui_reply_error("405 Method Not Allowed", reply);
	else if (!decode(request + (head ? 5 : 4), path))
		ui_reply_error("400 Bad Request", reply);
	else if (!is_for_us(place, request))
		ui_reply_error("421 Misdirected Request", reply);
	else
		find(place, path, reply);
	if (!head)
		return;
	if (reply->file >= 0)
		(void)close(reply->file);
	reply->file = -1;
	reply->size = 0;
	reply->stays = reply->is_page = false;
}
