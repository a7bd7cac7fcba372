/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo open --ui DIR`: a Perfetto UI in a folder and one trace, for a browser on this machine.
 *
 *     http://127.0.0.1:9001/                      files of the folder
 *     http://127.0.0.1:9001/3f2a91c04be87d55      sends the browser to the UI with the trace
 *     http://127.0.0.1:9001/3f2a91c04be87d55/robot.pftrace
 *
 * The number is random, so other users of the machine cannot read the trace. Pages of other sites
 * cannot either: a request must name this host, and no answer allows another origin.
 */
#ifndef KYMO_CLI_VERBS_OPEN_UI_SERVER_H
#define KYMO_CLI_VERBS_OPEN_UI_SERVER_H

#include <signal.h>

#include "base/err.h"

/* As Perfetto's own script has it, so that the UI keeps its settings. */
#define UI_SERVER_PORT 9001

struct ui_server;

/**
 * ui_server_begin() - listen on 127.0.0.1
 * @folder: has index.html
 * @trace: path of a file
 * @port: 0: UI_SERVER_PORT, or if that is in use any free one
 *
 * Return: 0; -1 with @err. Context: allocates.
 */
int ui_server_begin(const char *folder, const char *trace, unsigned port, struct ui_server **server,
		    struct kymo_err *err);

/** ui_server_address() - what to open in a browser; valid as long as @server. */
const char *ui_server_address(const struct ui_server *server);

/**
 * ui_server_run() - serve until *@stop
 * @stop: set by a signal handler
 *
 * Return: 0; -1 with @err. Context: blocks.
 */
int ui_server_run(struct ui_server *server, const volatile sig_atomic_t *stop,
		  struct kymo_err *err);

/** ui_server_end() - close all and free @server, which may be NULL. */
void ui_server_end(struct ui_server *server);

#endif
