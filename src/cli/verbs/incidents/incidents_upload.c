/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/incidents/incidents_upload.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/common.h"
#include "config/config.h"
#include "fleet/push/backoff.h"
#include "fleet/upload/upload.h"

#define TRIES 6u /* of one incident, within some eight seconds */

static void tell(const struct incident *incident, const struct upload_report *report)
{
	char clean[4 * UPLOAD_ADDRESS_MAX + 1], text[512];

	(void)text_clean(clean, sizeof clean, report->to);
	puts(clean);
	(void)fflush(stdout);
	if (!report->left_out)
		return;
	(void)snprintf(text, sizeof text,
		       "%s: left out %u file%s with a name that is too long there: %s",
		       incident->name, report->left_out, report->left_out > 1 ? "s, the first" : "",
		       report->first);
	cli_say((void *)"incidents", text);
}

static enum upload_result send_one(struct upload_place *place, const struct incident *incident,
				   struct kymo_err *err)
{
	struct upload_report report;
	enum upload_result result = upload_incident(place, incident, &report);

	for (unsigned failures = 1; result == UPLOAD_AGAIN && failures < TRIES; failures++) {
		(void)poll(NULL, 0, (int)backoff_ms(failures));
		result = upload_incident(place, incident, &report);
	}
	if (result == UPLOAD_SENT) {
		tell(incident, &report);
	} else {
		*err = report.err;
		(void)err_wrap(err, "upload %s", incident->name);
	}
	return result;
}

static bool is_named(const struct incident *incident, int count, char **name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(name[i], incident->name) == 0)
			return true;
	return false;
}

/* An incident that you name goes again. Return: 0, or -1 with @err. */
static int send_named(struct upload_place *place, const struct incidents *incidents, int count,
		      char **name, struct kymo_err *err)
{
	for (unsigned i = 0; i < incidents->count; i++) {
		const struct incident *incident = &incidents->item[i];

		if (!is_named(incident, count, name))
			continue;
		if (!incident_is_ready(incident))
			return err_set(
				err, KYMO_EXIT_FAILED,
				"upload %s: it is not complete yet (%s); wait, or run `kymo incidents finish`",
				incident->name, incident_state(incident));
		if (send_one(place, incident, err) != UPLOAD_SENT)
			return -1;
	}
	return 0;
}

static void tell_rest(unsigned sent, unsigned there, unsigned unready, const char *to)
{
	char text[UPLOAD_ADDRESS_MAX];

	(void)snprintf(
		text, sizeof text,
		"upload: what is complete is at %s already; name an incident to send it again", to);
	if (!sent && there)
		cli_say((void *)"incidents", text);
	(void)snprintf(
		text, sizeof text,
		"upload: %u incident%s not complete yet; wait, or run `kymo incidents finish`",
		unready, unready > 1 ? "s are" : " is");
	if (unready)
		cli_say((void *)"incidents", text);
}

/* One that cannot be sent does not hold up the others. Return: 0, or -1 with @err, whose text may
 * have been printed. */
static int send_new(struct upload_place *place, const struct incidents *incidents,
		    struct kymo_err *err)
{
	const char *to = upload_place_name(place);
	unsigned sent = 0, there = 0, unready = 0, never = 0;

	for (unsigned i = 0; i < incidents->count; i++) {
		const struct incident *incident = &incidents->item[i];
		enum upload_result result = UPLOAD_BUSY;

		if (incident_is_uploaded(incident->path, to)) {
			there++;
			continue;
		}
		if (incident_is_ready(incident))
			result = send_one(place, incident, err);
		if (result == UPLOAD_AGAIN || result == UPLOAD_WRONG)
			return -1;
		if (result == UPLOAD_NEVER)
			(void)cli_fail("incidents", err);
		sent += result == UPLOAD_SENT;
		unready += result == UPLOAD_BUSY;
		never += result == UPLOAD_NEVER;
	}
	tell_rest(sent, there, unready, to);
	return never ? err_set(err, KYMO_EXIT_FAILED, "%s", "") : 0;
}

static int send_chosen(struct upload_place *place, const struct incidents *incidents, int count,
		       char **name, struct kymo_err *err)
{
	if (!incidents->count)
		cli_say((void *)"incidents", "upload: there are no incidents");
	if (count ? send_named(place, incidents, count, name, err)
		  : send_new(place, incidents, err))
		return -1;
	return incidents->count ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY;
}

int incidents_upload(const struct incidents *incidents, const char *to, int count, char **name,
		     struct kymo_err *err)
{
	struct upload_place *place;
	struct config *config;
	int status = -1;

	if (config_read(&config, NULL, err))
		return -1;
	if (to && config_set(config, "upload.to", to, err)) {
		config_free(config);
		return err_wrap(err, "--to");
	}
	if (!*config->upload.url)
		(void)err_set(
			err, KYMO_EXIT_USAGE,
			"upload: where to? Write --to s3+https://HOST/BUCKET/PREFIX or --to file:///DIR, or upload.to "
			"in kymo.yaml");
	else if (!upload_place_open(&place, config, NULL, err)) {
		status = send_chosen(place, incidents, count, name, err);
		upload_place_close(place);
	}
	config_free(config);
	return status;
}
