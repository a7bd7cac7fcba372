/* SPDX-License-Identifier: Apache-2.0 */
/* Names of scopes, see scope.h. */
#include "ctf/tsdl/scope.h"

const char *const ctf_scope_name[SCOPE_COUNT] = {
	"trace.packet.header",	"stream.packet.context", "stream.event.header",
	"stream.event.context", "event.context",	 "event.fields",
};

const char *const ctf_scope_origin[SCOPE_COUNT] = {
	"packet-header",
	"packet-context",
	"event-record-header",
	"event-record-common-context",
	"event-record-specific-context",
	"event-record-payload",
};
