/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A webhook: POST incident.json, or one sentence as chats show it, once for each incident. The
 * address itself may be a secret, so marks, messages and metrics have its host only, and the answer
 * of the server is not quoted.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_get.h"
#include "base/text.h"
#include "fleet/push/secret.h"
#include "fleet/upload/upload_internal.h"

#define LINE_MAX_BYTES 8192u

/* The one line of a file with a secret; secret_free() it. Return: 0, or -1 with @err. */
static int load_line(const char *path, char **text, size_t *size, struct kymo_err *err)
{
	size_t length;

	if (secret_load(path, LINE_MAX_BYTES, text, size, err))
		return -1;
	length = *size;
	while (length && strchr("\r\n", (*text)[length - 1]))
		(*text)[--length] = 0;
	if (length && strlen(*text) == length && !strpbrk(*text, "\r\n"))
		return 0;
	secret_free(*text, *size);
	return err_set(err, KYMO_EXIT_INPUT, "%s: a secret is one line", path);
}

/* ---- the place ---- */

/* @path: of the file with the address. Return: 0, or -1 with @err. */
static int load_address(struct upload_place *place, const char *path, struct kymo_err *err)
{
	size_t size;
	char *text;
	int status = 0;

	if (load_line(path, &text, &size, err))
		return -1;
	if (strncasecmp(text, "http://", 7) != 0 && strncasecmp(text, "https://", 8) != 0)
		status = err_set(err, KYMO_EXIT_INPUT,
				 "%s: expected an address such as https://HOST/PATH", path);
	else if (strlen(text) >= sizeof(place->base))
		status = err_set(err, KYMO_EXIT_INPUT, "%s: the address is too long", path);
	else
		memcpy(place->base, text, strlen(text) + 1);
	secret_free(text, size);
	return status;
}

/* Return: 0; -1 with @err and the @key of kymo.yaml that it is about. */
static int set_webhook(struct upload_place *place, const struct config *config, const char **key,
		       struct kymo_err *err)
{
	const struct config_target *from = &config->webhook;
	const bool is_secret = *config->webhook_url_file;
	char host[256];

	place->config = config;
	place->is_webhook = true;
	place->options.ca = from->ca;
	place->options.cert = from->cert;
	place->options.key = from->key;
	*key = is_secret ? "webhook.url-file" : "webhook.url";
	if (is_secret && *from->url)
		return err_set(err, KYMO_EXIT_INPUT,
			       "webhook.url and webhook.url-file: only one of them");
	if (is_secret && load_address(place, config->webhook_url_file, err))
		return -1;
	if (!is_secret &&
	    snprintf(place->base, sizeof(place->base), "%s", from->url) >= (int)sizeof(place->base))
		return err_set(err, KYMO_EXIT_INPUT, "webhook.url is too long");
	snprintf(place->name, sizeof(place->name), "webhook %s",
		 host_of_url(place->base, host, sizeof(host)));
	if (!is_secret && !*from->secret_file)
		return 0;
	return secret_may_go(place->base, is_secret ? "the secret address" : "the token",
			     "webhook.unencrypted", from->unencrypted, err);
}

static bool is_wanted(const struct config *config)
{
	return *config->webhook.url || *config->webhook_url_file;
}

int upload_webhook_open(struct upload_place **out, const struct config *config,
			const atomic_bool *stop, struct kymo_err *err)
{
	struct upload_place *place;
	const char *unused;

	*out = NULL;
	if (!is_wanted(config))
		return 0;
	place = calloc(1, sizeof(*place));
	if (!place)
		return err_no_memory(err);
	place->options.stop = stop ? stop : &place->unset;
	if (set_webhook(place, config, &unused, err) ||
	    post_open(&place->post, &place->options, err)) {
		upload_place_close(place);
		return -1;
	}
	*out = place;
	return 0;
}

int upload_webhook_check(const struct config *config, const char **key, struct kymo_err *err)
{
	struct upload_place *place = calloc(1, sizeof(*place));
	size_t size;
	char *text;
	int status;

	*key = "webhook.url";
	if (!place)
		return err_no_memory(err);
	status = is_wanted(config) ? set_webhook(place, config, key, err) : 0;
	upload_place_close(place);
	if (status || !is_wanted(config) || !*config->webhook.secret_file)
		return status;
	*key = "webhook.token-file";
	if (load_line(config->webhook.secret_file, &text, &size, err))
		return -1;
	secret_free(text, size);
	return 0;
}

/* ---- a request ---- */

static const char *text_of(const struct incident *incident, const char *key)
{
	const char *text = json_get_text(incident->json, key);

	return text ? text : "";
}

/* {"text": "r2d2: /planner took 120 ms, usually 3 ms: ... (chain(/scan -> /cmd_vel) > 80ms,
 * 20261124-031244)"} */
static struct json_object *sentence_of(const struct upload_place *place,
				       const struct incident *incident)
{
	struct json_object *body = json_object_new_object();
	const char *robot = text_of(incident, "robot"), *trigger = text_of(incident, "trigger");
	char text[4096];

	(void)snprintf(text, sizeof(text), "%s: %s (%s%s%s)", *robot ? robot : place->config->robot,
		       incident_sentence(incident), trigger, *trigger ? ", " : "", incident->name);
	json_object_object_add(body, "text", json_object_new_string(text));
	return body;
}

/* incident.json, with the name of the incident and of the robot. */
static struct json_object *whole_of(const struct upload_place *place,
				    const struct incident *incident)
{
	struct json_object *body = json_object_new_object();

	json_object_object_add(body, "name", json_object_new_string(incident->name));
	json_object_object_add(body, "robot", json_object_new_string(place->config->robot));
	json_object_object_foreach(incident->json, key, value)
		json_object_object_add(body, key, json_object_get(value));
	return body;
}

/* Slack answers "ok" as text/html, so the type says nothing. */
static bool is_page(const struct post_answer *answer)
{
	const char *body = answer->body + strspn(answer->body, " \t\r\n");

	return *body == '<';
}

static enum upload_result judge(const struct upload_place *place, const struct post_answer *answer,
				struct kymo_err *err)
{
	const char *host = place->name + strlen("webhook ");
	const long status = answer->status;

	if (!status) {
		(void)err_set(err, KYMO_EXIT_FAILED, "%s: %s", host, answer->why);
		return UPLOAD_AGAIN;
	}
	if (status >= 200 && status <= 299 && !is_page(answer))
		return UPLOAD_SENT;
	if (status >= 200 && status <= 299) { /* such as a hotel's login page */
		(void)err_set(err, KYMO_EXIT_FAILED, "%s: a page answered, and not a webhook",
			      host);
		return UPLOAD_AGAIN;
	}
	(void)err_set(err, KYMO_EXIT_FAILED, "%s answered %ld", host, status);
	if (status == 400 || status == 413 || status == 415 || status == 422)
		return UPLOAD_NEVER;
	return status >= 500 || status == 408 || status == 429 || status < 400 ? UPLOAD_AGAIN
									       : UPLOAD_WRONG;
}

/* The token is read again for each incident. Return: 0, or -1 with @err. */
static int put_token(const struct upload_place *place, char *header, size_t size,
		     struct kymo_err *err)
{
	const char *path = place->config->webhook.secret_file;
	size_t length;
	char *token;

	*header = 0;
	if (!*path)
		return 0;
	if (load_line(path, &token, &length, err))
		return -1;
	(void)snprintf(header, size, "Authorization: Bearer %s", token);
	secret_free(token, length);
	return 0;
}

enum upload_result upload_to_webhook(struct upload_place *place, const struct incident *incident,
				     struct upload_report *report)
{
	char header[LINE_MAX_BYTES + 32], key[INCIDENT_NAME_MAX + 32];
	struct post_request request = { .url = place->base };
	struct json_object *body;
	struct post_answer answer;
	enum upload_result result;

	(void)snprintf(report->to, sizeof(report->to), "%s", place->name);
	if (put_token(place, header, sizeof(header), &report->err))
		return UPLOAD_WRONG;
	body = place->config->webhook_body == CONFIG_SENTENCE ? sentence_of(place, incident)
							      : whole_of(place, incident);
	request.body = json_object_to_json_string_ext(body, JSON_C_TO_STRING_PLAIN);
	request.size = strlen(request.body);
	(void)snprintf(key, sizeof(key), "Idempotency-Key: %s", incident->name);
	request.header[request.headers++] = "Content-Type: application/json";
	request.header[request.headers++] = key;
	if (*header)
		request.header[request.headers++] = header;
	post_send(place->post, &request, &answer);
	explicit_bzero(header, sizeof(header));
	result = judge(place, &answer, &report->err);
	if (result == UPLOAD_SENT)
		report->bytes = request.size;
	json_object_put(body);
	return result;
}
