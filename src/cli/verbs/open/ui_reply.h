/* SPDX-License-Identifier: Apache-2.0 */
/* What a request to the server of `kymo open` is answered with. */
#ifndef KYMO_CLI_VERBS_OPEN_UI_REPLY_H
#define KYMO_CLI_VERBS_OPEN_UI_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is served, and under which names. */
struct ui_place {
	char folder[4096]; /* its real path; "": none */
	char trace[4096];  /* "": none */
	unsigned port;
	char key[17];   /* path of the page, without the slash */
	char name[256]; /* of the trace in addresses */
	char address[64];
	const char *page;
	uint64_t page_size;
	const char *page_head; /* lines of its reply */
};

struct ui_reply {
	char head[1024];
	size_t head_size;
	int file;         /* -1: none */
	const char *text; /* if there is no file; stays the place's */
	uint64_t size;    /* of file or text */
	bool stays;       /* the connection stays open until the browser closes it */
	bool is_page;
};

/** ui_reply() - answer @request, text up to and with the empty line. Context: opens a file. */
void ui_reply(const struct ui_place *place, const char *request, struct ui_reply *reply);

/** ui_reply_error() - an answer without a file. @status: "400 Bad Request". */
void ui_reply_error(const char *status, struct ui_reply *reply);

#endif
