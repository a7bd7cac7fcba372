/* SPDX-License-Identifier: Apache-2.0 */
/* kymo incidents upload. */
#ifndef KYMO_CLI_INCIDENTS_UPLOAD_H
#define KYMO_CLI_INCIDENTS_UPLOAD_H

#include "base/err.h"
#include "incident/incident.h"

/**
 * incidents_upload() - send @incidents to @to (NULL: upload.to of kymo.yaml): those with the @count
 * names in @name, or all that are not there yet; prints where each is then
 *
 * Return: an exit status, or -1 with @err. Context: blocks for the network.
 */
int incidents_upload(const struct incidents *incidents, const char *to, int count, char **name,
		     struct kymo_err *err);

#endif
