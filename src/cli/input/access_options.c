/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/input/access_options.h"

#include "base/text.h"

int access_wish(const struct access_wishes *wishes, const struct url *url, struct access *access,
		struct kymo_err *err)
{
	*access = (struct access){ 0 };
	if (!url->tls && (wishes->ca || wishes->pin))
		return err_set(err, KYMO_EXIT_USAGE, "--%s requires TLS: write the URL with nets://", wishes->ca ? "tls-ca" : "tls-pin");
	if (wishes->ca && wishes->pin)
		return err_set(err, KYMO_EXIT_USAGE, "--tls-pin and --tls-ca exclude each other: --tls-pin trusts one certificate only");
	if (wishes->token_file && token_read(wishes->token_file, &access->token, err) < 0)
		return -1;
	if (access->token.size && !url->tls && !host_is_loopback(url->host))
		return err_set(err, KYMO_EXIT_USAGE, "the token would be sent to %s unencrypted; use TLS (nets://)", url->host);
	if (!url->tls)
		return 0;
	access->tls = tls_call(wishes->ca, wishes->pin, err);
	return access->tls ? 0 : -1;
}

void access_free(struct access *access)
{
	tls_context_free(access->tls);
	*access = (struct access){ 0 };
}
