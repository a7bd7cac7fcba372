/* SPDX-License-Identifier: Apache-2.0 */
/* Has a library the functions that the preload library stands in front of? */
#include <string.h>

#include "abi/points.h"
#include "recorder/doctor/doctor.h"
#include "recorder/launch/program_tracetools.h"
#include "base/array.h"

struct symbol {
	const char *name, *library;
	unsigned from, to;		/* KYMO_V() */
	const char *tells, *text;
};

static const struct symbol symbols[] = {
#define SYMBOL(symbol, library, from, to, before, after, tells, text)			\
	{ #symbol, #library, from, to, #tells, text },
#include "abi/symbols.def"
};

void doctor_symbols(struct doctor *doctor, const char *library, const struct elf *elf,
		    const struct tracetools_facts *facts)
{
	const char *slash = strrchr(library, '/'), *base = slash ? slash + 1 : library;
	unsigned there = 0, wanted = 0;

	for (size_t i = 0; i < COUNT_OF(symbols); i++) {
		const struct symbol *symbol = &symbols[i];
		const size_t length = strlen(symbol->library);

		if (strncmp(base, symbol->library, length) || strncmp(base + length, ".so", 3) ||
		    facts->from < symbol->from || facts->to > symbol->to)
			continue;
		wanted++;
		if (elf_symbol(elf, symbol->name))
			there++;
		else
			doctor_say(doctor, base, DOCTOR_WARNING,
				   "nothing to do; the rest is recorded, and a newer kymo may know its new name",
				   "has no %s: traces lack %s", symbol->text, symbol->tells);
	}
	if (wanted)
		doctor_say(doctor, base, DOCTOR_OK, NULL,
			   "%u of %u functions that tell of executors and callback groups", there, wanted);
}
