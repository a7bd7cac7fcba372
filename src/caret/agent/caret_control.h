/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which program speaks DDS. CycloneDDS brings a dozen libraries; loading them would make every verb start
 * later than all the rest of kymo together. So there are two programs of the same sources: `kymo`, and
 * lib/kymo-dds, which is linked with src/control/dds. A verb that needs DDS begins with control_enter().
 */
#ifndef KYMO_CONTROL_CONTROL_H
#define KYMO_CONTROL_CONTROL_H

#include "base/err.h"

#define CONTROL_PROGRAM "kymo-dds"

/**
 * control_enter() - go on in the program that speaks DDS
 * @verb: and @argc, @argv: as the verb got them
 * @libdir: where it is installed; may be NULL
 *
 * Return: 0: this is it; -1 with @err: there is none, and what to install. Else it does not return: the
 * verb's run() is called in the other program. Context: blocks; exec.
 */
int control_enter(const char *verb, int argc, char **argv, const char *libdir, struct kymo_err *err);

#endif
