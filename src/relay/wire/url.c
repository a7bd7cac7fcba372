/* SPDX-License-Identifier: Apache-2.0 */
/* LTTng's URLs of a relay. See url.h. */
#include "relay/wire/url.h"
#include "base/array.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const struct {
	const char *name;
	int family;
	bool tls, datagrams;
} schemes[] = {
	{ "net", AF_INET, false, false },	{ "net6", AF_INET6, false, false },
	{ "tcp", AF_INET, false, false },	{ "tcp6", AF_INET6, false, false },
	{ "nets", AF_INET, true, false },	{ "nets6", AF_INET6, true, false },
	{ "udp", AF_INET, false, true },	{ "udp6", AF_INET6, false, true },
	{ "udps", AF_INET, true, true },	{ "udps6", AF_INET6, true, true },
};

static const char *const examples[] = {
	[URL_PRODUCER] = "net://HOST[:CONTROL-PORT[:DATA-PORT]]",
	[URL_INSIDE] = "net://HOST[:CONTROL-PORT[:DATA-PORT]]",
	[URL_VIEWER] = "net://HOST[:PORT]/host/TARGET/SESSION",
};

bool url_is_one(const char *text)
{
	const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");

	return length && strncmp(text + length, "://", 3) == 0;
}

/* Skips the scheme. Return: what follows it; NULL: unknown scheme. */
static const char *take_scheme(const char *text, struct url *url)
{
	for (size_t i = 0; i < COUNT_OF(schemes); i++) {
		const size_t length = strlen(schemes[i].name);

		if (strncmp(text, schemes[i].name, length) != 0 || strncmp(text + length, "://", 3) != 0)
			continue;
		url->family = schemes[i].family;
		url->tls = schemes[i].tls;
		url->datagrams = schemes[i].datagrams;
		return text + length + 3;
	}
	return NULL;
}

/* Return: what follows the host; NULL: there is none. */
static const char *take_host(const char *text, struct url *url)
{
	const bool bracket = *text == '[';
	const size_t length = bracket ? strcspn(++text, "]") : strcspn(text, ":/");

	if (!length || length >= sizeof(url->host) || (bracket && text[length] != ']'))
		return NULL;
	memcpy(url->host, text, length);
	url->host[length] = 0;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)url->host[i] <= ' ' || url->host[i] == 0x7f)
			return NULL;
	if (bracket)
		url->family = AF_INET6;
	return text + length + bracket;
}

/* Return: what follows the port; NULL: it is invalid. */
static const char *take_port(const char *text, uint16_t *port)
{
	unsigned value = 0;

	if (*text != ':')
		return text;
	if (*++text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		value = 10 * value + (unsigned)(*text - '0');
		if (value > UINT16_MAX)
			return NULL;
	}
	*port = (uint16_t)value;
	return value ? text : NULL;
}

/* Splits a viewer's path: host/TARGET/SESSION, host/TARGET, SESSION, or nothing. */
static bool split_path(struct url *url)
{
	const char *at = url->path, *slash;

	if (strncmp(at, "host/", 5) != 0)
		return snprintf(url->session, sizeof(url->session), "%s", at) >= 0;
	at += 5;
	slash = strchr(at, '/');
	if (!slash)
		slash = at + strlen(at);
	if (slash == at || (size_t)(slash - at) >= sizeof(url->target))
		return false;
	memcpy(url->target, at, (size_t)(slash - at));
	(void)snprintf(url->session, sizeof(url->session), "%s", *slash ? slash + 1 : "");
	return true;
}

static const char *take_path(const char *text, struct url *url)
{
	size_t length;

	if (*text && *text != '/')
		return NULL;
	text += strspn(text, "/");
	length = strlen(text);
	while (length && text[length - 1] == '/')
		length--;
	if (length >= sizeof(url->path))
		return NULL;
	memcpy(url->path, text, length);
	return text;
}

int url_parse(const char *text, enum url_role role, struct url *url, struct kymo_err *err)
{
	const char *at;

	*url = (struct url){ .port = role == URL_VIEWER ? URL_LIVE_PORT : URL_CONTROL_PORT,
			     .data_port = role == URL_VIEWER ? 0 : URL_DATA_PORT };
	if (strncmp(text, "file:", 5) == 0)
		return err_set(err, KYMO_EXIT_USAGE, "'%.256s' is a directory of this machine; pass a relay's URL: %s", text,
			       examples[role]);
	at = take_scheme(text, url);
	if (!at)
		return err_set(err, KYMO_EXIT_USAGE,
			       "'%.256s' is not a relay's URL; it begins with net://%s, "
			       "as in %s",
			       text, role == URL_INSIDE ? "" : ", or nets:// for TLS",
			       examples[role]);
	at = take_host(at, url);
	if (!at)
		return err_set(err, KYMO_EXIT_USAGE, "'%.256s': no host; pass a URL such as %s", text, examples[role]);
	if (url->datagrams)
		url->data_port = 0;
	at = take_port(at, &url->port);
	if (at && role != URL_VIEWER)
		at = take_port(at, &url->data_port);
	if (!at || (*at && *at != '/'))
		return err_set(err, KYMO_EXIT_USAGE, "'%.256s': invalid port; ports are numbers from 1 to 65535, as in %s", text,
			       examples[role]);
	if (!take_path(at, url) || (role == URL_VIEWER && !split_path(url)))
		return err_set(err, KYMO_EXIT_USAGE, "'%.256s': invalid path; pass a URL such as %s", text, examples[role]);
	if (role == URL_VIEWER && url->datagrams)
		return err_set(err, KYMO_EXIT_USAGE, "'%.256s': viewers cannot use datagrams; pass a URL such as %s", text, examples[role]);
	return 0;
}
