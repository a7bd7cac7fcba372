/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that hands a trace to the Perfetto UI. It shows the UI in a frame, asks it with messages
 * whether it is ready ("PING", "PONG"), and gives it the bytes of the trace. Nothing is sent to the
 * host that the UI comes from.
 */
#ifndef KYMO_CLI_VERBS_OPEN_HANDOVER_H
#define KYMO_CLI_VERBS_OPEN_HANDOVER_H

#include <stddef.h>

#include "base/err.h"
#include "cli/verbs/open/open_view.h"

/**
 * open_handover() - the page's text
 * @ui: address of the UI; "": the host that the page comes from
 * @title: of the trace, for people
 * @name: the last part of the trace's address
 * @view: where the UI opens
 * @page: set to the text, which you free; @size: its bytes
 *
 * Return: 0; -1 with @err: no memory. Context: allocates.
 */
int open_handover(const char *ui, const char *title, const char *name, const struct open_view *view,
		  char **page, size_t *size, struct kymo_err *err);

#endif
