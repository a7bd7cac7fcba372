/* SPDX-License-Identifier: Apache-2.0 */
/* The browser of the desktop, and what to do where there is none. */
#ifndef KYMO_CLI_VERBS_OPEN_BROWSER_H
#define KYMO_CLI_VERBS_OPEN_BROWSER_H

#include <stdbool.h>
#include <stdio.h>

/** open_has_display() - whether this session has a desktop, by its environment. */
bool open_has_display(void);

/**
 * open_browser() - show @address with xdg-open
 *
 * It does not wait for the browser, but for xdg-open, which starts one. Return: NULL; else why not.
 * Context: blocks.
 */
const char *open_browser(const char *address);

/**
 * open_print_tunnel() - how to reach @port of this machine from the desk: a command line of ssh.
 */
void open_print_tunnel(FILE *out, unsigned port);

#endif
