/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the program that uses DDS. CycloneDDS needs a dozen libraries; loading them would take longer than all the rest
 * of a verb. So there are two programs of the same sources: `kymo`, and lib/kymo-dds, which is linked with
 * src/caret/dds. A verb that needs DDS begins with caret_enter().
 */
#ifndef KYMO_CARET_ENTER_H
#define KYMO_CARET_ENTER_H

#include "base/err.h"

#define CARET_DDS_PROGRAM "kymo-dds"

/**
 * caret_enter() - continue in the program that uses DDS
 * @verb: and @argc, @argv: the verb's
 * @libdir: where that program is installed; may be NULL
 *
 * Return: 0: this is that program; -1 with @err: it does not exist; what to install. Otherwise it does not return: the
 * other program calls the verb's run(). Context: blocks; exec.
 */
int caret_enter(const char *verb, int argc, char **argv, const char *libdir, struct kymo_err *err);

#endif
