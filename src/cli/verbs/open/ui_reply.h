/* SPDX-License-Identifier: Apache-2.0 */
/* What a request to the server of `kymo open --ui` is answered with. */
#ifndef KYMO_CLI_VERBS_OPEN_UI_REPLY_H
#define KYMO_CLI_VERBS_OPEN_UI_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is served, and under which names. */
struct ui_place {
	char folder[4096]; /* its real path */
	char trace[4096];
	unsigned port;
	char key[17];   /* path of the page that loads the trace, without the slash */
	char name[256]; /* of the trace in addresses */
	char address[64];
};

struct ui_reply {
	char head[1024];
	size_t head_size;
	int file; /* -1: no body */
	uint64_t file_size;
};

/** ui_reply() - answer @request, text up to and with the empty line. Context: opens a file. */
void ui_reply(const struct ui_place *place, const char *request, struct ui_reply *reply);

/** ui_reply_error() - an answer without a file. @status: "400 Bad Request". */
void ui_reply_error(const char *status, struct ui_reply *reply);

#endif
