/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors for humans. A function that can fail for a reason a user should read takes a struct kymo_err,
 * fills it where the failure is known best, and returns a negative value. Callers add context
 * with err_wrap() or pass it on; only the command line prints. Untouched on success.
 */
#ifndef KYMO_BASE_ERR_H
#define KYMO_BASE_ERR_H

#include "kymo/err.h"

/**
 * err_set() - fill @err with @status and a formatted text
 * @err: may be NULL: then nothing is kept
 *
 * Context: no allocation; not for the traced process.
 * Return: -1, so that `return err_set(...)` reads well.
 */
__attribute__((format(printf, 3, 4)))
int err_set(struct kymo_err *err, enum kymo_exit status, const char *format, ...);

/** err_no_memory() - fill @err with "out of memory", as a failure at run time. Return: -1. */
int err_no_memory(struct kymo_err *err);

/** err_wrap() - put "formatted text: " in front of what @err already says. Return: -1. */
__attribute__((format(printf, 2, 3)))
int err_wrap(struct kymo_err *err, const char *format, ...);

#endif
