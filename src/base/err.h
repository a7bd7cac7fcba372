/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors that a user reads. A function that can fail for such a reason has a parameter struct
 * kymo_err *. It fills the error where the cause is known, and returns a negative value. Callers
 * add context with err_wrap(), or pass the error on. Only the command line prints it. On success it
 * is not changed.
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
