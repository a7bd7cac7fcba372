/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests about the filter of a session that runs:
 *
 *     {"request":"filter", "do":"show"|"set"|"add"|"clear", "rules":["topic !/rosout", ...]}
 *
 *     {"request":"filter", "do":"caret", "CARET_SELECT_NODES":"...", ...}	for all processes
 *
 * The reply says what holds afterwards: "rules", of which "rules_more" had no room in it, "programs"
 * with rules of their own environment, and what that came to.
 */
#ifndef KYMO_RECORDER_RECORD_FILTER_H
#define KYMO_RECORDER_RECORD_FILTER_H

#include <json-c/json.h>

struct session;
struct control_call;

/** record_filter() - answer a request. */
void record_filter(struct session *session, struct control_call *call, struct json_object *request);

#endif
