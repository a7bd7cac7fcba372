/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct kymo_err *err, enum kymo_exit status, const char *format, ...)
{
	va_list args;

	if (!err)
		return -1;
	err->status = status;
	va_start(args, format);
	(void)vsnprintf(err->text, sizeof err->text, format, args); /* a cut text is still a text */
	va_end(args);
	return -1;
}

int err_no_memory(struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "out of memory");
}

int err_wrap(struct kymo_err *err, const char *format, ...)
{
	char inner[sizeof err->text];
	va_list args;
	int used;

	if (!err)
		return -1;
	memcpy(inner, err->text, sizeof inner);
	va_start(args, format);
	used = vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	if (used >= 0 && (size_t)used < sizeof err->text)
		(void)snprintf(err->text + used, sizeof err->text - (size_t)used, ": %s", inner);
	return -1;
}
