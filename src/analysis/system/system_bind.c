/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binds events after a check of the types that a trace declares. A trace may declare any type under
 * a known name. Fields that are read as text or bytes must have that type in each class of the
 * event, because a number must not be used as a pointer.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/system/system_cputime_thread.h"
#include "base/array.h"

/* Fields that are read as text or bytes, with the allowed beginnings of their types. */
static const struct {
	const char *field, *type[3];
} pointers[] = {
	{ "prev_comm", { "string", "char[" } },
	{ "next_comm", { "string", "char[" } },
	{ "path", { "string" } },
	{ "sopath", { "string" } },
	{ "build_id", { "u8[", "char[" } },
	{ "name", { "string", "char[" } },
	{ "frames", { "u64 (hex)[", "u64[" } },
};

static bool is_of_type(const struct kymo_ctf_event_class *class, const char *field,
		       const char *const *type)
{
	for (uint32_t i = 0; i < class->field_count; i++) {
		if (strcmp(class->field[i].name, field) != 0)
			continue;
		for (; *type; type++)
			if (strncmp(class->field[i].type, *type, strlen(*type)) == 0 &&
			    strchr(class->field[i].type, '[') == strrchr(class->field[i].type, '['))
				return true;
		return false;
	}
	return false;	/* a context may have a field of that name and any type */
}

static bool fits(const struct kymo_ctf_reader *reader, const char *event, const char *field)
{
	for (size_t i = 0; i < COUNT_OF(pointers); i++) {
		if (strcmp(pointers[i].field, field) != 0)
			continue;
		for (unsigned k = 0; k < kymo_ctf_class_count(reader); k++)
			if (strcmp(kymo_ctf_class(reader, k)->name, event) == 0 &&
			    !is_of_type(kymo_ctf_class(reader, k), field, pointers[i].type))
				return false;
	}
	return true;
}

void os_fit(const struct kymo_ctf_reader *reader, struct kymo_ctf_bind *table, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < KYMO_CTF_BIND_FIELDS && table[i].field[k]; k++)
			if (!fits(reader, table[i].event, table[i].field[k]))
				table[i].field[k] = "";
}

int os_bind(struct kymo_ctf_reader *reader, const struct kymo_ctf_bind *table, unsigned count,
	    struct kymo_err *err)
{
	struct kymo_ctf_bind *copy = calloc(count + 1, sizeof(*copy));
	int status;

	if (!copy)
		return err_no_memory(err);
	memcpy(copy, table, count * sizeof(*copy));
	os_fit(reader, copy, count);
	status = kymo_ctf_bind(reader, copy, count, err);
	free(copy);
	return status;
}
