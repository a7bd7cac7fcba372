/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata files have two forms. A plain file is text: TSDL, or CTF 2's JSON. A packetized file, as
 * LTTng writes it, is a row of packets with pieces of the text; each has a header in the byte order
 * of the machine that wrote it:
 *
 *    0 u32 magic 0x75d11d57    4 u8 uuid[16]    20 u32 checksum
 *   24 u32 content_size bits  28 u32 packet_size bits
 *   32 u8 compression, 33 u8 encryption, 34 u8 checksum scheme, 35 u8 major, 36 u8 minor
 */
#include "ctf/tsdl/ctf2.h"
#include "ctf/tsdl/tsdl.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define PACKET_MAGIC 0x75d11d57u
#define PACKET_HEADER 37

/* Nothing can be read without the beginning, and nothing but a copy has it. */
#define REMEDY                                                                                    \
	"; the file is cut off, so copy it again from where the trace was recorded; other parts " \
	"of the trace can be read alone: name the directory of one"

static uint32_t load32(const char *at, bool swap)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return swap ? __builtin_bswap32(value) : value;
}

/* Move the contents of all packets to the front of @text; a last packet that is cut off is left out
 * (@cut).
 * Return: the size of the contents, or -1. */
static int64_t unpack(char *text, size_t size, const char *name, bool swap, bool *cut,
		      struct kymo_err *err)
{
	size_t at = 0, used = 0;

	while (at < size) {
		uint64_t content, packet;

		if (at && size - at < PACKET_HEADER) {
			*cut = true;
			break;
		}
		if (size - at < PACKET_HEADER)
			return err_set(err, KYMO_EXIT_INPUT,
				       "%s: byte %zu: expected a metadata packet, "
				       "found the end of the metadata" REMEDY,
				       name, size);
		if (load32(text + at, swap) != PACKET_MAGIC)
			return err_set(err, KYMO_EXIT_INPUT, "%s: byte %zu: expected a metadata packet "
				       "(magic 0x%x); the file is damaged", name, at, PACKET_MAGIC);
		content = load32(text + at + 24, swap) / 8;
		packet = load32(text + at + 28, swap) / 8;
		if (text[at + 32] || text[at + 33])
			return err_set(err, KYMO_EXIT_INPUT, "%s: byte %zu: compressed or encrypted metadata "
				       "cannot be read", name, at);
		if (at && content <= packet && content > size - at) {
			*cut = true;
			break;
		}
		if (content <= packet && content > size - at)
			return err_set(err, KYMO_EXIT_INPUT,
				       "%s: byte %zu: expected a metadata packet of "
				       "%llu bytes, found the end of the metadata" REMEDY,
				       name, size, (unsigned long long)content);
		if (content < PACKET_HEADER || content > packet)
			return err_set(err, KYMO_EXIT_INPUT, "%s: byte %zu: a metadata packet of %llu bytes "
				       "does not fit; the file is damaged", name, at,
				       (unsigned long long)content);
		memmove(text + used, text + at + PACKET_HEADER, content - PACKET_HEADER);
		used += content - PACKET_HEADER;
		at = packet > size - at ? size : at + packet;
	}
	return (int64_t)used;
}

/* Whether the parser failed because the text ended; then the last word or mark may be
 * incomplete. */
static bool ends_early(const struct tsdl *p)
{
	enum tsdl_kind kind = p->token.kind;
	bool part = kind == TSDL_NAME || kind == TSDL_INTEGER ||
		    (kind == TSDL_MARK && strchr("/:.-", *p->token.text));

	return p->open || kind == TSDL_END || (part && p->token.text + p->token.size >= p->end);
}

/* Return: 0; 1: the text ends early, @why says where; -1 with @why. */
static int parse_tsdl(struct ctf_metadata *m, const char *text, size_t size, const char *name,
		      struct kymo_err *why)
{
	struct tsdl_scope root = { 0 };
	struct tsdl p = { .metadata = m, .name = name, .at = text, .end = text + size,
		.line_begin = text, .line = 1, .scope = &root, .err = why };

	if (!tsdl_next(&p) && !tsdl_blocks(&p))
		return 0;
	return ends_early(&p) ? 1 : -1;
}

int tsdl_parse(char *text, size_t size, const char *name, struct ctf_metadata **metadata,
		   struct kymo_err *err)
{
	struct ctf_metadata *m;
	uint32_t magic = size >= 4 ? load32(text, false) : 0;
	struct kymo_err why = { 0 };
	bool cut = false;
	int torn;

	if (magic == PACKET_MAGIC || magic == __builtin_bswap32(PACKET_MAGIC)) {
		int64_t unpacked = unpack(text, size, name, magic != PACKET_MAGIC, &cut, err);

		if (unpacked < 0)
			return -1;
		size = (size_t)unpacked;
	}
	m = calloc(1, sizeof *m);
	if (!m)
		return err_no_memory(err);
	m->version = 1;
	/* A file that is being written may end anywhere. */
	torn = size && *text == CTF2_BEGIN ? ctf2_parse(text, size, name, m, &why)
					   : parse_tsdl(m, text, size, name, &why);
	if (torn < 0) {
		tsdl_free(m);
		return err_set(err, why.status, "%s", why.text);
	}
	if (cut && !torn)
		err_set(&why, KYMO_EXIT_INPUT, "%s: the last packet is cut off", name);
	if (cut || torn)
		m->torn = arena_text(&m->arena, why.text, strlen(why.text));
	if (m->order == CTF_ORDER_NATIVE) {
		tsdl_free(m);
		if (cut || torn)
			return err_set(err, KYMO_EXIT_INPUT, "%s" REMEDY, why.text);
		return err_set(err, KYMO_EXIT_INPUT, "%s: this metadata has no trace block", name);
	}
	*metadata = m;
	return 0;
}

int tsdl_load(const char *path, struct ctf_metadata **metadata, struct kymo_err *err)
{
	return tsdl_load_until(path, CTF_METADATA_MAX, metadata, err);
}

int tsdl_load_until(const char *path, uint64_t end, struct ctf_metadata **metadata,
		    struct kymo_err *err)
{
	char *text;
	size_t size;
	int result;

	if (file_load(path, CTF_METADATA_MAX, &text, &size, err))
		return -1;
	if (size > end)
		size = (size_t)end;
	if (!size)
		result = err_set(err, KYMO_EXIT_INPUT, "%s: the metadata is empty" REMEDY, path);
	else
		result = tsdl_parse(text, size, path, metadata, err);
	if (!result)
		(*metadata)->bytes = size;
	free(text);
	return result;
}

void tsdl_free(struct ctf_metadata *metadata)
{
	while (metadata) {
		struct ctf_metadata *before = metadata->before;

		arena_free(&metadata->arena);
		free(metadata);
		metadata = before;
	}
}

const struct ctf_env *tsdl_env(const struct ctf_metadata *metadata, const char *name)
{
	for (uint32_t i = 0; i < metadata->env_count; i++)
		if (!strcmp(metadata->env[i].name, name))
			return &metadata->env[i];
	return NULL;
}
