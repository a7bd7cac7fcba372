/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of functions, as the unwind table (.eh_frame) of their file describes them.
 *
 * The idea: the table of a file has a sorted list of its functions. The entry of a function has
 * instructions that say, from one of its addresses to the next, where its frame ends and where it
 * has saved registers. They are run up to the address that is asked for; of the registers, only the
 * return address counts. A table that says it in another form gives no frame.
 */
#include "inside/functions/functions_frames.h"

#ifdef __aarch64__

#include <link.h>
#include <string.h>

#define REGISTER_X29 29u
#define REGISTER_RETURN 30u
#define REGISTER_SP 31u
#define STATES 8 /* that a table may remember at a time */

/* ---- the table of a file ---- */

/* Bytes of a table. Behind the end, all are 0. */
struct bytes {
	const uint8_t *at, *end;
};

static uint64_t take(struct bytes *bytes, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(bytes->end - bytes->at) < size) {
		bytes->at = bytes->end;
		return 0;
	}
	memcpy(&value, bytes->at, size);
	bytes->at += size;
	return value;
}

/* LEB128: seven bits a byte, the lowest ones first. */
static uint64_t take_number(struct bytes *bytes, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (bytes->at < bytes->end) {
		const uint8_t byte = *bytes->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (is_signed && shift < 64 && byte & 0x40)
			value |= ~UINT64_C(0) << shift;
		break;
	}
	return value;
}

/* The entry of a function, with what it shares with others. */
struct entry {
	uintptr_t begin, size;
	uint64_t code_unit;
	int64_t data_unit;
	struct bytes common, own; /* instructions */
};

#define POINTER_RELATIVE 0x1b /* four bytes, signed, from where they are */

static uintptr_t take_relative(struct bytes *bytes)
{
	const uintptr_t at = (uintptr_t)bytes->at;

	return at + (uintptr_t)(int64_t)(int32_t)take(bytes, 4);
}

/* Sets @bytes to an entry. Return: whether it has the usual form. */
static bool take_entry(struct bytes *bytes, const uint8_t *at)
{
	uint32_t length;

	memcpy(&length, at, sizeof(length));
	if (length == 0 || length >= 0xfffffff0u)
		return false;
	bytes->at = at + sizeof(length);
	bytes->end = bytes->at + length;
	return true;
}

static bool read_common(struct entry *entry, const uint8_t *at)
{
	struct bytes bytes;
	const char *augmentation;
	uint8_t version, pointers = 0;
	uint64_t size;

	if (!take_entry(&bytes, at) || take(&bytes, 4) != 0)
		return false;
	version = (uint8_t)take(&bytes, 1);
	augmentation = (const char *)bytes.at;
	if ((version != 1 && version != 3) || *augmentation != 'z')
		return false;
	bytes.at += strlen(augmentation) + 1;
	entry->code_unit = take_number(&bytes, false);
	entry->data_unit = (int64_t)take_number(&bytes, true);
	if ((version == 1 ? take(&bytes, 1) : take_number(&bytes, false)) != REGISTER_RETURN)
		return false;
	size = take_number(&bytes, false);
	entry->common = (struct bytes){ bytes.at + size, bytes.end };
	for (const char *letter = augmentation + 1; *letter; letter++) {
		switch (*letter) {
		case 'R':
			pointers = (uint8_t)take(&bytes, 1);
			break;
		case 'L':
			(void)take(&bytes, 1);
			break;
		case 'P':
			(void)take(&bytes, (take(&bytes, 1) & 0x0f) == 0x0c ? 8 : 4);
			break;
		case 'B': /* which key signs: that is no matter here */
			break;
		default:
			return false;
		}
	}
	return pointers == POINTER_RELATIVE;
}

static bool read_entry(struct entry *entry, const uint8_t *at)
{
	struct bytes bytes;
	const uint8_t *here;
	uint64_t back, size;

	if (!take_entry(&bytes, at))
		return false;
	here = bytes.at;
	back = take(&bytes, 4);
	if (back == 0 || !read_common(entry, here - back))
		return false;
	entry->begin = take_relative(&bytes);
	entry->size = take(&bytes, 4);
	size = take_number(&bytes, false);
	entry->own = (struct bytes){ bytes.at + size, bytes.end };
	return true;
}

/* ---- its instructions ---- */

struct unwind_machine {
	uint64_t at; /* from the begin of the function */
	struct functions_frame frame, remembered[STATES];
	unsigned count;
	bool has_place;
};

/* Instructions of the upper two bits, and of all eight. */
enum { ADVANCE = 1, OFFSET = 2, RESTORE = 3 };
enum {
	NOP = 0x00,
	ADVANCE_1 = 0x02,
	ADVANCE_2 = 0x03,
	ADVANCE_4 = 0x04,
	OFFSET_EXTENDED = 0x05,
	RESTORE_EXTENDED = 0x06,
	SAME_VALUE = 0x08,
	REMEMBER = 0x0a,
	RESTORE_STATE = 0x0b,
	DEF_CFA = 0x0c,
	DEF_CFA_REGISTER = 0x0d,
	DEF_CFA_OFFSET = 0x0e,
	NEGATE_SIGNED = 0x2d,
	ARGUMENTS_SIZE = 0x2e,
};

static bool set_register(struct unwind_machine *machine, uint64_t number)
{
	machine->frame.from_x29 = number == REGISTER_X29;
	return number == REGISTER_X29 || number == REGISTER_SP;
}

static bool set_end(struct unwind_machine *machine, uint64_t offset)
{
	machine->frame.end = (int32_t)offset;
	return offset < INT32_MAX;
}

static bool set_place(struct unwind_machine *machine, uint64_t number, int64_t offset)
{
	if (number != REGISTER_RETURN)
		return true;
	machine->frame.place = (int32_t)offset;
	machine->frame.is_known = true;
	return offset < 0 && offset > INT32_MIN;
}

/* An instruction without operands in its first byte. Return: whether it is one of those above. */
static bool step_extended(struct unwind_machine *machine, const struct entry *entry, uint8_t what,
			  struct bytes *bytes)
{
	uint64_t number;

	switch (what) {
	case NOP:
		return true;
	case ADVANCE_1:
		machine->at += take(bytes, 1) * entry->code_unit;
		return true;
	case ADVANCE_2:
		machine->at += take(bytes, 2) * entry->code_unit;
		return true;
	case ADVANCE_4:
		machine->at += take(bytes, 4) * entry->code_unit;
		return true;
	case OFFSET_EXTENDED:
		number = take_number(bytes, false);
		return set_place(machine, number,
				 (int64_t)take_number(bytes, false) * entry->data_unit);
	case RESTORE_EXTENDED: /* those of a function's end; the return address has a short one */
	case SAME_VALUE:
		return take_number(bytes, false) != REGISTER_RETURN;
	case REMEMBER:
		if (machine->count == STATES)
			return false;
		machine->remembered[machine->count++] = machine->frame;
		return true;
	case RESTORE_STATE:
		if (machine->count == 0)
			return false;
		machine->frame = machine->remembered[--machine->count];
		return true;
	case DEF_CFA:
		return set_register(machine, take_number(bytes, false)) &&
		       set_end(machine, take_number(bytes, false));
	case DEF_CFA_REGISTER:
		return set_register(machine, take_number(bytes, false));
	case DEF_CFA_OFFSET:
		return set_end(machine, take_number(bytes, false));
	case NEGATE_SIGNED:
		machine->frame.is_signed = !machine->frame.is_signed;
		return true;
	case ARGUMENTS_SIZE:
		(void)take_number(bytes, false);
		return true;
	default:
		return false;
	}
}

/* Runs the instructions that hold for the byte @offset of the function. */
static bool run(struct unwind_machine *machine, const struct entry *entry, struct bytes bytes,
		uint64_t offset)
{
	while (bytes.at < bytes.end && machine->at <= offset) {
		const uint8_t byte = *bytes.at++, low = byte & 0x3f;
		bool done = true;

		switch (byte >> 6) {
		case ADVANCE:
			machine->at += low * entry->code_unit;
			break;
		case OFFSET:
			done = set_place(machine, low,
					 (int64_t)take_number(&bytes, false) * entry->data_unit);
			break;
		case RESTORE:
			if (low == REGISTER_RETURN)
				machine->frame.is_known = false;
			break;
		default:
			done = step_extended(machine, entry, byte, &bytes);
			break;
		}
		if (!done)
			return false;
	}
	return true;
}

/* ---- the file of an address ---- */

struct search {
	uintptr_t pc;
	struct functions_frame frame;
};

/* The header of the table: a list of functions, sorted. */
struct header {
	uint8_t version, table_pointer, count_form, list_form;
	int32_t table;
	uint32_t count;
	struct {
		int32_t function, entry; /* from the header */
	} list[];
};

static void read_frame(struct search *search, const struct header *header)
{
	const uintptr_t base = (uintptr_t)header, pc = search->pc - 1; /* within the call */
	struct unwind_machine machine = { .at = 0 };
	uint32_t low = 0, high = header->count;
	struct entry entry;

	if (header->version != 1 || header->count_form != 0x03 || header->list_form != 0x3b)
		return;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (base + (uintptr_t)(int64_t)header->list[middle].function <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 ||
	    !read_entry(&entry, (const uint8_t *)base + (int64_t)header->list[low - 1].entry) ||
	    pc - entry.begin >= entry.size)
		return;
	if (run(&machine, &entry, entry.common, 0) &&
	    run(&machine, &entry, entry.own, pc - entry.begin))
		search->frame = machine.frame;
}

static int look_into_file(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	const ElfW(Phdr) *table = NULL;
	bool has = false;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_GNU_EH_FRAME)
			table = segment;
		else if (segment->p_type == PT_LOAD)
			has |= search->pc - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
	}
	if (has && table && table->p_memsz >= sizeof(struct header))
		read_frame(search, (const struct header *)(info->dlpi_addr + table->p_vaddr));
	return has;
}

struct functions_frame functions_read_frame(uintptr_t pc)
{
	struct search search = { .pc = pc };

	(void)dl_iterate_phdr(look_into_file, &search);
	return search.frame;
}

#endif
