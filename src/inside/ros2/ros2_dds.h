/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When was a message written? tracetools tells from 8.0 on, in rmw_publish; before, the middleware's own
 * functions do, which come next on the same thread:
 *
 *   ros_trace_rmw_publish(message)  ──▶  dds_write(writer, message)        CycloneDDS
 *                                        WriterHistory::set_fragments()    Fast DDS
 */
#ifndef KYMO_HOOKS_DDS_H
#define KYMO_HOOKS_DDS_H

/* The message that this thread is about to write, if its rmw_publish was recorded; NULL: none. */
extern __thread const void *kymo_message_written __attribute__((visibility("hidden")));

#endif
