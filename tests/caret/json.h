/* SPDX-License-Identifier: Apache-2.0 */
/* An event a line: event(), then printf(", \"key\": ...") and what is here, then event_end(). */
#ifndef TESTS_CARET_JSON_H
#define TESTS_CARET_JSON_H

void json_text(const char *text);
void json_list(const char *key, const char *const *item, unsigned count);
void event(const char *what);
void event_end(void);

#endif
