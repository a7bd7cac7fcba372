/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels by the names of series, and messages as JSON.
 *
 * Context of all functions: not thread-safe; allocate; writer_end() and the passes block as the
 * file does.
 */
#ifndef KYMO_EXPORT_MCAP_CHANNELS_H
#define KYMO_EXPORT_MCAP_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_text.h"
#include "base/map.h"
#include "export/mcap/mcap.h"
#include "export/mcap/mcap_file.h"

#define SERIES_NAME_MAX 2048

struct series;

struct writer {
	struct mcap *file;
	struct map by_name, topics; /* (hash, number) -> struct series */
	struct json_text text;	    /* of the present message */
	struct mcap_result *result;
	bool failed; /* no memory */
};

/**
 * writer_channel() - the channel of the series @name; it is created if there is none
 * @prefix: "/kymo/topic"
 * @schema: of writer->file
 *
 * Its topic is @prefix and @name in letters that viewers need not quote. Return: 0: there is none.
 */
unsigned writer_channel(struct writer *writer, unsigned schema, const char *prefix,
			const char *name);

/** writer_begin() - begin a message. */
void writer_begin(struct writer *writer);

/** writer_ms() - a member with a time, in milliseconds with all digits. */
void writer_ms(struct writer *writer, const char *key, int64_t ns);

/** writer_number() - a member with @value; what is not finite is left out. */
void writer_number(struct writer *writer, const char *key, double value);

/** writer_end() - write the message. @channel: 0: it is only counted. */
void writer_end(struct writer *writer, unsigned channel, int64_t log_ns, int64_t publish_ns);

/** writer_free() - all but the file. */
void writer_free(struct writer *writer);

/* mcap_rows.c: what the tables contain. Return: 0; -1 with @err. */
int mcap_rows(struct writer *writer, struct tables *tables, struct kymo_err *err);

/* mcap_chains.c: arrivals of chains, and findings. Return: 0; -1 with @err. */
int mcap_chains(struct writer *writer, struct tables *tables, const struct mcap_options *options,
		struct kymo_err *err);
int mcap_findings(struct writer *writer, struct tables *tables, const struct mcap_options *options,
		  struct kymo_err *err);

#endif
