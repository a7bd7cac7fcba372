/* SPDX-License-Identifier: Apache-2.0 */
/* Packets and stream classes of the traces that ctf/write/writer.h writes. */
#ifndef KYMO_CTF_FRAMING_H
#define KYMO_CTF_FRAMING_H

#define CTF_PACKET_MAGIC 0xC1FC1FC1u	/* u32, at the begin of each packet */
/* bytes of a packet's header and context that LTTng's packets have, too */
#define CTF_PACKET_HEAD_LTTNG 84
#define CTF_PACKET_HEAD_MAX 109	/* bytes of a packet's header and context */
#define CTF_PROCNAME_SIZE 17		/* 16 bytes of a thread name and a NUL, as in LTTng */

/* Stream classes of the traces written here; the value is the stream_id. */
enum ctf_class {
	CTF_CLASS_RUN,  /* runtime events of one ring; vpid, vtid, procname in the packet context */
	CTF_CLASS_INIT, /* init events of one process; they and init_timestamp in the event
			 * context */
	CTF_CLASS_MERGED, /* runtime events of many rings; vpid in the packet, vtid and procname in
			     the event context */
	CTF_CLASS_KERNEL, /* the kernel's events (kernel/kernel.h), where a trace is no directory:
			     nothing in the packet but its CPU */
	CTF_CLASS_COUNT
};

#endif
