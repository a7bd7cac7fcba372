/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/runtime/say.h"

#include <stdarg.h>
#include <stdio.h>

void say_text(const struct sayer *sayer, const char *format, ...)
{
	char text[512];
	va_list args;

	if (!sayer->say)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	sayer->say(sayer->context, text);
}
