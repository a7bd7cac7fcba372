/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve_incidents.h"

#include <json-c/json.h>
#include <string.h>

void serve_incidents_count(struct serve_incidents *incidents)
{
	struct incidents read;
	struct kymo_err err;
	unsigned first = 0;

	if (!incidents->directory || incidents_read(incidents->directory, &read, &err) < 0)
		return;
	incidents->kept = read.count;
	incidents->bytes = read.bytes;
	for (unsigned i = 0; i < read.count; i++)
		if (strcmp(read.item[i].name, incidents->last) == 0 ||
		    strncmp(read.item[i].name, incidents->last, 15) < 0)
			first = i + 1;
	incidents->total += read.count - first;
	if (read.count > first)
		(void)snprintf(incidents->last, sizeof incidents->last, "%s", read.item[read.count - 1].name);
	incidents_free(&read);
}

void serve_incidents_put(const struct serve_incidents *incidents, FILE *out)
{
	struct json_object *all = json_object_new_array();
	struct incidents read = { 0 };
	struct kymo_err err;

	if (incidents->directory && incidents_read(incidents->directory, &read, &err) == 0)
		for (unsigned i = read.count; i-- > 0;) {
			struct json_object *one = json_object_get(read.item[i].json);

			json_object_object_add(one, "name", json_object_new_string(read.item[i].name));
			json_object_object_add(one, "bytes", json_object_new_uint64(read.item[i].bytes));
			(void)json_object_array_add(all, one);
		}
	fprintf(out, "%s\n", json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(all);
	incidents_free(&read);
}
