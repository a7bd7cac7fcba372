/* SPDX-License-Identifier: Apache-2.0 */
/* Writes architecture files. */
#include "caret/paths/architecture.h"

#include <inttypes.h>
#include <string.h>
#include <yaml.h>

#include "base/text.h"
#include "caret/paths/architecture_keys.h"

struct writing {
	yaml_emitter_t emitter;
	yaml_event_t event;
	bool failed;
};

/* Emits w->event. @made: whether there was memory for it. */
static void emit(struct writing *w, int made)
{
	if (!made || w->failed || !yaml_emitter_emit(&w->emitter, &w->event))
		w->failed = true;
}

/* "" and NULL are CARET's UNDEFINED. */
static void write_text(struct writing *w, const char *text)
{
	const char *value = text && *text ? text : "UNDEFINED";
	char *valid = text_is_utf8(value) ? NULL : text_utf8(value);

	value = valid ? valid : value;
	emit(w, yaml_scalar_event_initialize(&w->event, NULL, NULL, (const yaml_char_t *)value,
					     (int)strlen(value), 1, 1, YAML_PLAIN_SCALAR_STYLE));
	free(valid);
}

static void write_number(struct writing *w, int64_t value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	write_text(w, digits);
}

static void write_map(struct writing *w, const struct arch_map *map, const void *object);

static void write_list(struct writing *w, const struct arch_key *key, const char *object)
{
	static const union {
		struct arch_passing passing;
		const char *name;
	} undefined;
	unsigned count = *(const unsigned *)(const void *)(object + key->count);
	const char *item;

	memcpy(&item, object + key->at, sizeof(item));
	if (!count && key->one_undefined) {
		item = (const char *)&undefined;
		count = 1;
	}
	emit(w, yaml_sequence_start_event_initialize(&w->event, NULL, NULL, 1,
						     count ? YAML_BLOCK_SEQUENCE_STYLE
							   : YAML_FLOW_SEQUENCE_STYLE));
	for (unsigned i = 0; i < count; i++)
		if (key->type == NAMES)
			write_text(w, ((const char *const *)(const void *)item)[i]);
		else
			write_map(w, key->object, item + i * key->object->size);
	emit(w, yaml_sequence_end_event_initialize(&w->event));
}

static void write_value(struct writing *w, const struct arch_key *key, const void *object)
{
	const void *value = (const char *)object + key->at;

	write_text(w, key->name);
	switch (key->type) {
	case TEXT:
		write_text(w, *(const char *const *)value);
		break;
	case NUMBER:
		write_number(w, *(const int64_t *)value);
		break;
	case ORDER:
		write_number(w, *(const unsigned *)value);
		break;
	case CALLBACK_TYPE:
		write_text(w, *(const bool *)value ? "timer_callback" : "subscription_callback");
		break;
	case NAMES:
	case OBJECTS:
		write_list(w, key, object);
		break;
	}
}

static void write_map(struct writing *w, const struct arch_map *map, const void *object)
{
	emit(w, yaml_mapping_start_event_initialize(&w->event, NULL, NULL, 1,
						    YAML_BLOCK_MAPPING_STYLE));
	for (const struct arch_key *key = map->key; key->name; key++)
		if ((!key->has || key->has(object)) &&
		    !((key->optional || key->type == ORDER) && architecture_has_none(key, object)))
			write_value(w, key, object);
	emit(w, yaml_mapping_end_event_initialize(&w->event));
}

int architecture_write(const struct architecture *architecture, FILE *out, struct kymo_err *err)
{
	struct writing w = { .failed = false };

	if (!yaml_emitter_initialize(&w.emitter))
		return err_no_memory(err);
	yaml_emitter_set_output_file(&w.emitter, out);
	yaml_emitter_set_unicode(&w.emitter,
				 0); /* others are escaped: marks of direction are no text */
	emit(&w, yaml_stream_start_event_initialize(&w.event, YAML_UTF8_ENCODING));
	emit(&w, yaml_document_start_event_initialize(&w.event, NULL, NULL, NULL, 1));
	write_map(&w, &architecture_file_map, architecture);
	emit(&w, yaml_document_end_event_initialize(&w.event, 1));
	emit(&w, yaml_stream_end_event_initialize(&w.event));
	yaml_emitter_delete(&w.emitter);
	if (w.failed || fflush(out))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write the architecture file");
	return 0;
}
