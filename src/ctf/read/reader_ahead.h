/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding events ahead of their reader, in other threads.
 *
 *   stream 0   [batch 7: being read] [8] [9] [10: being made]     a ring of copies of the stream,
 *   stream 1   [batch 3: being read] [4: being made] [ ] [ ]      each with its own window and batch
 *
 * A stream's batches are made one behind the other, by whichever thread comes first; different
 * streams at the same time. Threads prefer the stream that is least far ahead. The reading thread
 * makes the batch that it needs itself when nobody has begun it.
 */
#ifndef KYMO_CTF_READER_AHEAD_H
#define KYMO_CTF_READER_AHEAD_H

#include <stdbool.h>

struct kymo_ctf_reader;
struct ctf_stream;
struct ahead;

/**
 * ahead_start() - begin at the beginning of all streams with @threads more threads
 *
 * Return: NULL when there is no memory or no thread; then read without. Context: allocates.
 */
struct ahead *ahead_start(struct kymo_ctf_reader *reader, unsigned threads);

/** ahead_stop() - end the threads and forget what they made. NULL: nothing. Context: blocks. */
void ahead_stop(struct ahead *ahead);

/**
 * ahead_next() - the next batch of stream @index; that given before is not used any more
 *
 * Return: a copy of the stream with at least one record; NULL: the stream has ended.
 * Context: reading thread; blocks.
 */
struct ctf_stream *ahead_next(struct ahead *ahead, unsigned index);

/** ahead_threads() - how many threads help when the user leaves it to us. */
unsigned ahead_threads(const struct kymo_ctf_reader *reader);

#endif
