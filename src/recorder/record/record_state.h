/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What others may ask of a session as a whole: stop, pause, resume. A stop and a resume may be for the processes of some
 * ROS domains ("ros_domains", see ros_domains.h): an End and a Start of CARET's are.
 *
 * Context: on the session's thread; each call is answered once.
 */
#ifndef KYMO_RECORDER_RECORD_STATE_H
#define KYMO_RECORDER_RECORD_STATE_H

#include <stdbool.h>

#include "recorder/control/control.h"
#include "recorder/session/session.h"

/** record_stop() - Return: whether the session is to end. */
bool record_stop(struct session *session, struct control_call *call, struct json_object *request);

void record_pause(struct session *session, struct control_call *call);
void record_resume(struct session *session, struct control_call *call, struct json_object *request);

#endif
