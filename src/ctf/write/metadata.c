/* SPDX-License-Identifier: Apache-2.0 */
/* TSDL as LTTng writes it, so that readers which look for LTTng's names find them. */
#include "ctf/write/metadata.h"

#include <endian.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

static const char types[] =
"/* CTF 1.8 */\n\n"
"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
"typealias integer { size = 64; align = 8; signed = false; } := unsigned long;\n"
"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
"typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; base = 10; } := "
"procname_t;\n\n";

/* The members that the packet context of every stream begins with. */
#define PACKET_CONTEXT \
"	uint64_clock_monotonic_t timestamp_begin;\n" \
"	uint64_clock_monotonic_t timestamp_end;\n" \
"	uint64_t content_size;\n" \
"	uint64_t packet_size;\n" \
"	uint64_t packet_seq_num;\n" \
"	unsigned long events_discarded;\n" \
"	uint32_t cpu_id;\n"

/* What all streams have in common. */
static const char shared[] =
"typealias integer {\n"
"	size = 64; align = 8; signed = false;\n"
"	map = clock.monotonic.value;\n"
"} := uint64_clock_monotonic_t;\n\n"
"struct event_header {\n"
"	uint16_t id;\n"
"	uint64_clock_monotonic_t timestamp;\n"
"} align(8);\n\n"
"struct packet_context {\n"
PACKET_CONTEXT
"};\n\n";

static const char streams[] =
"/* Runtime events: one thread's at a time, so the thread stands in the packet. */\n"
"struct packet_context_thread {\n"
PACKET_CONTEXT
"	int32_t vpid;\n"
"	int32_t vtid;\n"
"	procname_t procname[17];\n"
"};\n\n"
"struct packet_context_process {\n"
PACKET_CONTEXT
"	int32_t vpid;\n"
"};\n\n"
"stream {\n"
"	id = 0;\n"
"	event.header := struct event_header;\n"
"	packet.context := struct packet_context_thread;\n"
"};\n\n"
"/* Init events: init_timestamp is the true time of one that is older than the trace. */\n"
"stream {\n"
"	id = 1;\n"
"	event.header := struct event_header;\n"
"	packet.context := struct packet_context;\n"
"	event.context := struct {\n"
"		uint64_t _init_timestamp;\n"
"		int32_t _vpid;\n"
"		int32_t _vtid;\n"
"		procname_t _procname[17];\n"
"	};\n"
"};\n\n"
"/* Runtime events of a process with many threads, merged by time. */\n"
"stream {\n"
"	id = 2;\n"
"	event.header := struct event_header;\n"
"	packet.context := struct packet_context_process;\n"
"	event.context := struct {\n"
"		int32_t _vtid;\n"
"		procname_t _procname[17];\n"
"	};\n"
"};\n\n";

/* A string in TSDL quotes; characters that would end or break it are replaced. */
static void put_quoted(FILE *out, const char *text)
{
	(void)fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		(void)fputc(c < ' ' || c == '"' || c == '\\' || c == 0x7f ? '_' : c, out);
	}
	(void)fputc('"', out);
}

static void put_uuid(FILE *out, const uint8_t uuid[16])
{
	for (unsigned i = 0; i < 16; i++)
		fprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static void put_env(FILE *out, const struct ctf_trace_desc *desc, const char *domain)
{
	time_t created = (time_t)desc->created_s;
	struct utsname system;
	char date[32] = "";
	struct tm utc;

	if (gmtime_r(&created, &utc))
		(void)strftime(date, sizeof date, "%Y%m%dT%H%M%S+0000", &utc);
	fprintf(out, "env {\n\tdomain = \"%s\";\n\ttracer_name = \"kymo\";\n"
		"\ttracer_major = %u;\n\ttracer_minor = %u;\n\ttracer_buffering_scheme = \"uid\";\n"
		"\ttracer_buffering_id = %u;\n\tarchitecture_bit_width = 64;\n\ttrace_name = ",
		domain, desc->version_major, desc->version_minor, (unsigned)desc->uid);
	put_quoted(out, desc->name);
	fprintf(out, ";\n\ttrace_creation_datetime = \"%s\";\n\thostname = ", date);
	put_quoted(out, desc->hostname);
	/* As in LTTng's kernel traces: the meaning of thread states depends on the kernel. */
	if (strcmp(domain, "kernel") == 0 && uname(&system) == 0) {
		fprintf(out, ";\n\tsysname = ");
		put_quoted(out, system.sysname);
		fprintf(out, ";\n\tkernel_release = ");
		put_quoted(out, system.release);
	}
	if (desc->rules) {
		fprintf(out, ";\n\tkymo_rules = ");
		put_quoted(out, desc->rules);
	}
	fprintf(out, ";\n};\n\n");
}

void ctf_metadata_uuid(uint8_t uuid[16])
{
	if (getrandom(uuid, 16, 0) != 16)
		memset(uuid, 0x5a, 16);    /* never happens on Linux: 16 bytes come at once */
	uuid[6] = (uuid[6] & 0x0f) | 0x40; /* version 4, random */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

void ctf_metadata_head(FILE *out, const struct ctf_trace_desc *desc, const char *domain,
		       const uint8_t uuid[16])
{
	fputs(types, out);
	fprintf(out, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	put_uuid(out, uuid);
	fprintf(out, "\";\n\tbyte_order = %s;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n"
		"\t\tuint8_t  uuid[16];\n\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n"
		"\t};\n};\n\n", __BYTE_ORDER == __LITTLE_ENDIAN ? "le" : "be");
	put_env(out, desc, domain);
	fprintf(out, "clock {\n\tname = \"monotonic\";\n");
	if (desc->boot_id[0]) {
		fprintf(out, "\tuuid = ");
		put_quoted(out, desc->boot_id);
		fprintf(out, ";\n");
	}
	fprintf(out, "\tdescription = \"Monotonic Clock\";\n\tfreq = 1000000000; /* Frequency, in Hz */\n"
		"\t/* clock value offset from Epoch is: offset * (1/freq) */\n\toffset = %lld;\n};\n\n",
		(long long)desc->clock_offset_ns);
	fputs(shared, out);
}

void ctf_metadata_begin(FILE *out, const struct ctf_trace_desc *desc, const uint8_t uuid[16])
{
	ctf_metadata_head(out, desc, "ust", uuid);
	fputs(streams, out);
}

#define INTEGER(size, sign, base) \
	"integer { size = " #size "; align = 8; signed = " #sign "; encoding = none; base = " #base "; }"

/* How a kind is declared: type, and what follows the name. PTRS has its length in front. */
static const struct {
	const char *type, *suffix;
} kind_text[] = {
	[KYMO_KIND_PTR] = { INTEGER(64, 0, 16), "" },
	[KYMO_KIND_U64] = { INTEGER(64, 0, 10), "" },
	[KYMO_KIND_I64] = { INTEGER(64, 1, 10), "" },
	[KYMO_KIND_BOOL] = { INTEGER(32, 1, 10), "" },
	[KYMO_KIND_STR] = { "string", "" },
	[KYMO_KIND_GID16] = { INTEGER(8, 0, 10), "[16]" },
	[KYMO_KIND_GID24] = { INTEGER(8, 0, 10), "[24]" },
	[KYMO_KIND_PTRS] = { INTEGER(64, 0, 16), "" },
	[KYMO_KIND_U8] = { INTEGER(8, 0, 10), "" },
	[KYMO_KIND_U16] = { INTEGER(16, 0, 10), "" },
	[KYMO_KIND_U32] = { INTEGER(32, 0, 10), "" },
	[KYMO_KIND_I8] = { INTEGER(8, 1, 10), "" },
	[KYMO_KIND_I16] = { INTEGER(16, 1, 10), "" },
	[KYMO_KIND_I32] = { INTEGER(32, 1, 10), "" },
	[KYMO_KIND_F64] = { "floating_point { exp_dig = 11; mant_dig = 53; align = 8; }", "" },
};

static void put_field(FILE *out, const struct kymo_field *field)
{
	const char *name = field->name;

	if (field->kind == KYMO_KIND_PTRS) {
		fprintf(out, "\t\t%s __%s_length;\n", INTEGER(64, 0, 10), name);
		fprintf(out, "\t\t%s _%s[ __%s_length ];\n", INTEGER(64, 0, 16), name, name);
		return;
	}
	fprintf(out, "\t\t%s _%s%s;\n", kind_text[field->kind].type, name,
		kind_text[field->kind].suffix);
}

void ctf_metadata_event(FILE *out, const struct kymo_point *point, unsigned id,
			enum ctf_class class)
{
	fprintf(out, "event {\n\tname = \"%s:%s\";\n\tid = %u;\n\tstream_id = %u;\n"
		"\tloglevel = 13;\n", point->provider, point->name, id, (unsigned)class);
	if (point->uri)
		fprintf(out, "\tmodel.emf.uri = \"%s\";\n", point->uri);
	fprintf(out, "\tfields := struct {\n");
	for (unsigned i = 0; i < point->field_count; i++)
		put_field(out, &point->field[i]);
	fprintf(out, "\t};\n};\n\n");
}
