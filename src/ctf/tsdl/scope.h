/* SPDX-License-Identifier: Apache-2.0 */
/* The scopes that the fields of an event are in, and what CTF 1.8 and CTF 2 call them. */
#ifndef KYMO_CTF_TSDL_SCOPE_H
#define KYMO_CTF_TSDL_SCOPE_H

/* The dynamic scopes of an event, in the order they are decoded. */
enum ctf_scope {
	SCOPE_PACKET_HEADER, SCOPE_PACKET_CONTEXT, SCOPE_EVENT_HEADER,
	SCOPE_STREAM_CONTEXT, SCOPE_EVENT_CONTEXT, SCOPE_FIELDS, SCOPE_COUNT,
};

extern const char *const ctf_scope_name[SCOPE_COUNT];	/* CTF 1.8: "trace.packet.header" */
extern const char *const ctf_scope_origin[SCOPE_COUNT];	/* CTF 2: "packet-header" */

#endif
