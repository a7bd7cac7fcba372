/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `kymo export` that writes what caret_analyze reads. */
#ifndef KYMO_CLI_EXPORT_CARET_H
#define KYMO_CLI_EXPORT_CARET_H

#include "cli/export_ctf.h"

/** export_caret() - as export_ctf(); without a window. */
int export_caret(const struct export_ctf *request, bool *lost, struct err *err);

#endif
