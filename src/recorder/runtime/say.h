/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for the user, from code that neither prints nor fails: what went wrong while recording
 * goes on. */
#ifndef KYMO_RECORDER_SAY_H
#define KYMO_RECORDER_SAY_H

struct sayer {
	void (*say)(void *context, const char *text);	/* NULL: nobody listens */
	void *context;
};

/** say_text() - one complete sentence, cut at 511 bytes. Context: as that of @sayer's function. */
__attribute__((format(printf, 2, 3)))
void say_text(const struct sayer *sayer, const char *format, ...);

#endif
