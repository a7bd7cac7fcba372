/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of JSON in a directory: kymo.json beside a trace, or incident.json. The first
 * byte says which. */
#include <sys/stat.h>

#include "accounts/accounts.h"
#include "fuzz_file.h"
#include "incident/incident.h"

static char folder[64], incident[128];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	(void)snprintf(folder, sizeof(folder), "%s", fuzz_folder_make());
	(void)snprintf(incident, sizeof(incident), "%s/20261124-031244", folder);
	return mkdir(incident, 0700);
}

static void put(const char *directory, const char *name, const uint8_t *data, size_t size)
{
	char path[256];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	out = fopen(path, "we");
	if (!out || fwrite(data, 1, size, out) != size)
		abort();
	(void)fclose(out);
}

static void read_accounts(void)
{
	struct accounts accounts;
	char problem[512], text[MACHINE_TEXT_MAX];

	accounts_read(&accounts, folder, problem);
	for (int i = 0; accounts.present && i < MACHINE_PARTS; i++)
		(void)accounts_machine(&accounts, (enum accounts_machine)i, text);
	if (!accounts.present && !*problem)
		abort();	/* the file exists */
	accounts_free(&accounts);
}

static void read_incident(void)
{
	struct incidents incidents = { 0 };
	struct kymo_err err = { 0 };

	if (incidents_read(folder, &incidents, &err) || incidents.count != 1)
		abort();
	if (!incident_state(incidents.item) || !incident_sentence(incidents.item) ||
	    incidents_find(&incidents, incidents.item->name) != incidents.item)
		abort();
	incidents_free(&incidents);
	(void)incidents_recover(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (*data % 2) {
		put(folder, ACCOUNTS_FILE, data + 1, size - 1);
		read_accounts();
	} else {
		put(incident, "incident.json", data + 1, size - 1);
		read_incident();
	}
	return 0;
}
