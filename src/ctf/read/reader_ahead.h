/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that find events before the reading thread needs them.
 *
 *   stream 0   [batch 7: being read] [8] [9] [10: being filled]     each stream has a ring of copies,
 *   stream 1   [batch 3: being read] [4: being filled] [ ] [ ]      each with its own window and batch
 *
 * The batches of one stream are filled one after the other, because each begins where the one
 * before ended. Any thread may fill the next. Different streams are filled at the same time. A
 * thread chooses the stream that is least far ahead in time, as that one is needed first. If the
 * reading thread needs a batch that nobody has begun, it fills it itself.
 */
#ifndef KYMO_CTF_READER_AHEAD_H
#define KYMO_CTF_READER_AHEAD_H


struct kymo_ctf_reader;
struct ctf_stream;
struct ahead;

/**
 * ahead_start() - start @threads threads, at the beginning of all streams
 *
 * Return: NULL without memory or threads: read without them. Context: allocates.
 */
struct ahead *ahead_start(struct kymo_ctf_reader *reader, unsigned threads);

/** ahead_stop() - end the threads and free their batches. @ahead: may be NULL. Context: blocks. */
void ahead_stop(struct ahead *ahead);

/**
 * ahead_next() - the next batch of stream @index; the batch returned before must not be used any
 * more
 *
 * Return: a copy of the stream with at least one record; NULL: the stream has ended.
 * Context: reading thread; blocks.
 */
struct ctf_stream *ahead_next(struct ahead *ahead, unsigned index);

/** ahead_threads() - how many threads are worth their cost for this trace on this machine. */
unsigned ahead_threads(const struct kymo_ctf_reader *reader);

#endif
