/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page, a trace, and perhaps a Perfetto UI in a folder, for a browser on this machine.
 *
 *     http://127.0.0.1:9001/3f2a91c04be87d55      the page
 *     http://127.0.0.1:9001/3f2a91c04be87d55/robot.pftrace
 *     http://127.0.0.1:9001/3f2a91c04be87d55/alive    open as long as the page is
 *     http://127.0.0.1:9001/                      files of the folder
 *
 * The number is random, so other users of the machine cannot read the trace. Pages of other sites
 * cannot either: a request must name this host, and no answer allows another origin.
 */
#ifndef KYMO_CLI_VERBS_OPEN_UI_SERVER_H
#define KYMO_CLI_VERBS_OPEN_UI_SERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* As Perfetto's own script has it, so that the UI keeps its settings. */
#define UI_SERVER_PORT 9001

struct ui_server;

struct ui_server_options {
	const char *folder; /* has index.html; NULL: none */
	const char *trace;  /* path of a file; NULL: none */
	const char *name;   /* the last part of its address */
	unsigned port;      /* 0: UI_SERVER_PORT, or if that is in use any free one */
	const char *page;   /* text; stays the caller's */
	size_t page_size;
	const char *page_head; /* lines that its reply begins with, each with "\r\n" */
	/* Whether the page is complete when it was sent; else it keeps "alive" open as long as it is shown. */
	bool page_is_all;
	int64_t wait_ns; /* how long to wait for a browser */
};

/**
 * ui_server_begin() - listen on 127.0.0.1
 *
 * Return: 0; -1 with @err. Context: allocates.
 */
int ui_server_begin(const struct ui_server_options *options, struct ui_server **server,
		    struct kymo_err *err);

/** ui_server_name() - of @file in addresses: letters that need no quoting. Return: @name. */
char *ui_server_name(char name[256], const char *file);

/** ui_server_port() */
unsigned ui_server_port(const struct ui_server *server);

/** ui_server_address() - what to open in a browser; valid as long as @server. */
const char *ui_server_address(const struct ui_server *server);

/**
 * ui_server_run() - serve until the browser is done, or *@stop
 * @stop: set by a signal handler
 *
 * Return: 0; -1 with @err, also if no browser came in time. Context: blocks.
 */
int ui_server_run(struct ui_server *server, const volatile sig_atomic_t *stop,
		  struct kymo_err *err);

/** ui_server_end() - close all and free @server, which may be NULL. */
void ui_server_end(struct ui_server *server);

#endif
