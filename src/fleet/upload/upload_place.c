/* SPDX-License-Identifier: Apache-2.0 */
/* Where to upload, and with which access key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/push/secret.h"
#include "fleet/upload/upload_internal.h"

#define CREDENTIALS_MOST (64u << 10) /* bytes of the file */

/* ---- the access key ---- */

static int keep(char *out, size_t size, const char *name, const char *value, struct kymo_err *err)
{
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 127)
			return err_set(err, KYMO_EXIT_INPUT, "%s has blanks or control characters",
				       name);
	if (strlen(value) >= size)
		return err_set(err, KYMO_EXIT_INPUT, "%s is too long", name);
	memcpy(out, value, strlen(value) + 1);
	return 0;
}

static char *trimmed(char *text)
{
	char *end;

	text += strspn(text, " \t\r");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r", end[-1]))
		*--end = 0;
	return text;
}

static int read_line(struct upload_place *place, char *line, struct kymo_err *err)
{
	char *value = strchr(line, '='), *name;

	if (!value)
		return 0;
	*value++ = 0;
	name = trimmed(line);
	value = trimmed(value);
	if (!strcmp(name, "aws_access_key_id"))
		return keep(place->user, sizeof(place->user), name, value, err);
	if (!strcmp(name, "aws_secret_access_key"))
		return keep(place->secret, sizeof(place->secret), name, value, err);
	if (!strcmp(name, "aws_session_token"))
		return keep(place->session, sizeof(place->session), name, value, err);
	return 0;
}

/* As ~/.aws/credentials: what stands before any [heading], or below [default]. */
static int read_file(struct upload_place *place, const char *path, struct kymo_err *err)
{
	char *text, *rest, *line;
	bool ours = true;
	int status = 0;
	size_t size;

	if (secret_load(path, CREDENTIALS_MOST, &text, &size, err))
		return -1;
	rest = text;
	while (!status && (line = strsep(&rest, "\n"))) {
		line = trimmed(line);
		if (*line == '[')
			ours = !strcmp(line, "[default]");
		else if (ours && *line != '#' && *line != ';')
			status = read_line(place, line, err);
	}
	secret_free(text, size);
	if (status)
		return err_wrap(err, "%s", path);
	if (!*place->user || !*place->secret)
		return err_set(
			err, KYMO_EXIT_INPUT,
			"%s: expected the lines aws_access_key_id = ... and aws_secret_access_key = ...",
			path);
	return 0;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

int upload_credentials(struct upload_place *place, struct kymo_err *err)
{
	const char *user = variable("AWS_ACCESS_KEY_ID"),
		   *secret = variable("AWS_SECRET_ACCESS_KEY");
	const char *path = place->config->upload.secret_file;

	*place->user = *place->secret = *place->session = 0;
	if (!*user && !*secret && *path)
		return read_file(place, path, err);
	if (!*user || !*secret)
		return err_set(
			err, KYMO_EXIT_INPUT,
			"%s requires an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or upload.credentials-file "
			"in kymo.yaml",
			place->name);
	return keep(place->user, sizeof(place->user), "AWS_ACCESS_KEY_ID", user, err) ||
			       keep(place->secret, sizeof(place->secret), "AWS_SECRET_ACCESS_KEY",
				    secret, err) ||
			       keep(place->session, sizeof(place->session), "AWS_SESSION_TOKEN",
				    variable("AWS_SESSION_TOKEN"), err)
		       ? -1
		       : 0;
}

/* ---- the place ---- */

bool upload_encode(char *out, size_t size, const char *text)
{
	size_t used = 0;

	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (used + 4 > size)
			return false;
		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    strchr("-._~/", c))
			out[used++] = *text;
		else
			used += (size_t)snprintf(out + used, 4, "%%%02X", c);
	}
	out[used] = 0;
	return true;
}

static int set_region(struct upload_place *place, struct kymo_err *err)
{
	const char *region = variable("AWS_REGION");

	if (!*region)
		region = variable("AWS_DEFAULT_REGION");
	if (!*region)
		region = place->config->upload_region;
	if (!*region)
		region = "us-east-1";
	if (strspn(region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
		    strlen(region) ||
	    strlen(region) > 64)
		return err_set(
			err, KYMO_EXIT_INPUT,
			"'%.70s' is not the name of a region, such as eu-central-1: correct AWS_REGION or upload.region",
			region);
	snprintf(place->signature, sizeof(place->signature), "aws:amz:%s:s3", region);
	return 0;
}

/* All but the access key. */
static int set_bucket(struct upload_place *place, const char **key, struct kymo_err *err)
{
	const struct config_target *from = &place->config->upload;
	const char *address = place->name + strlen("s3+"), *host = strstr(address, "://") + 3;
	const int length = (int)(strcspn(host, "/") + (size_t)(host - address));

	place->path = address + length;
	snprintf(place->base, sizeof(place->base), "%.*s", length, address);
	if (!upload_encode(place->base + length, sizeof(place->base) - (size_t)length, place->path))
		return err_set(err, KYMO_EXIT_INPUT, "upload.to is too long");
	place->options.ca = from->ca;
	place->options.cert = from->cert;
	place->options.key = from->key;
	place->options.bandwidth = place->config->upload_bandwidth;
	*key = "upload.to";
	if (secret_may_go(place->name, "incidents, signed with the access key,", "upload.unencrypted",
			  from->unencrypted, err))
		return -1;
	*key = "upload.region";
	return set_region(place, err);
}

static int open_bucket(struct upload_place *place, struct kymo_err *err)
{
	if (upload_credentials(place, err) || post_open(&place->post, &place->options, err))
		return -1;
	return post_signs(place->post, err);
}

/* Return: 0; -1 with @err and the @key of kymo.yaml that it is about. */
static int set_place(struct upload_place *place, const struct config *config, const char **key,
		     struct kymo_err *err)
{
	size_t length = strlen(config->upload.url);

	*key = "upload.to";
	place->config = config;
	while (length && config->upload.url[length - 1] == '/')
		length--;
	if (length >= sizeof(place->name))
		return err_set(err, KYMO_EXIT_INPUT, "upload.to is too long");
	snprintf(place->name, sizeof(place->name), "%.*s", (int)length, config->upload.url);
	place->is_bucket = !strncmp(place->name, "s3+", 3);
	if (place->is_bucket)
		return set_bucket(place, key, err);
	place->path = length < strlen("file:///") ? "/" : place->name + strlen("file://");
	return 0;
}

int upload_check(const struct config *config, const char **key, struct kymo_err *err)
{
	struct upload_place *place = calloc(1, sizeof(*place));
	int status;

	*key = "upload.to";
	if (!place)
		return err_no_memory(err);
	status = *config->upload.url ? set_place(place, config, key, err) : 0;
	if (!status && place->is_bucket && *config->upload.secret_file) {
		*key = "upload.credentials-file";
		status = read_file(place, config->upload.secret_file, err);
	}
	upload_place_close(place);
	return status;
}

int upload_place_open(struct upload_place **out, const struct config *config,
		      const atomic_bool *stop, struct kymo_err *err)
{
	struct upload_place *place = calloc(1, sizeof(*place));
	const char *unused;

	if (!place)
		return err_no_memory(err);
	place->options.stop = stop ? stop : &place->unset;
	if (set_place(place, config, &unused, err) ||
	    (place->is_bucket && open_bucket(place, err))) {
		upload_place_close(place);
		return -1;
	}
	*out = place;
	return 0;
}

void upload_place_close(struct upload_place *place)
{
	if (!place)
		return;
	post_close(place->post);
	explicit_bzero(place->base, sizeof(place->base));
	explicit_bzero(place->secret, sizeof(place->secret));
	explicit_bzero(place->session, sizeof(place->session));
	free(place);
}

const char *upload_place_name(const struct upload_place *place)
{
	return place->name;
}
