/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a new session. See relay_model.h. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "relay/model/relay_model.h"

#define DATE_MAX 32
#define SAME_PATH_MAX 100000u /* sessions of one path */

void relay_place_begin(struct relay_place *place, const struct relay *relay,
		       const struct relay_create *create)
{
	const time_t time = (time_t)create->created_s;
	char date[DATE_MAX] = "";
	struct tm tm;
	int length;

	if (!create->name_has_time && !*create->base && localtime_r(&time, &tm))
		(void)strftime(date, sizeof(date), "-%Y%m%d-%H%M%S", &tm);
	length = snprintf(place->path, sizeof(place->path), "%s/%s%s", create->host,
			  *create->base ? create->base : create->name, date);
	place->store = &relay->store;
	place->forgotten = relay->forgotten;
	place->number = 0;
	place->length = length > 0 && length < STORE_PATH_MAX ? (size_t)length : 0;
}

void relay_place_search(struct relay_place *place)
{
	char *more = place->path + place->length;

	for (*more = 0; place->length && place->number < SAME_PATH_MAX; place->number++) {
		if (place->number)
			(void)snprintf(more, PLACE_NUMBER, "-%u", place->number + 1);
		if (!store_path_is_safe(place->path))
			break;
		if (!store_has(place->store, place->path))
			return;
	}
	place->path[0] = 0;
}

bool relay_place_is_free(struct relay_place *place, const struct relay *relay)
{
	const struct relay_session *other = relay->sessions;
	const bool stale = place->forgotten != relay->forgotten;

	while (other && !(other->path && strcmp(other->path, place->path) == 0))
		other = other->next;
	place->number += other != NULL;
	place->forgotten = relay->forgotten;
	return !*place->path || (!other && !stale);
}
