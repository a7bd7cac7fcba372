/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/filter/filter_rules.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

static const char *const kind_name[FILTER_KINDS] = {
	[FILTER_NODE] = "node", [FILTER_TOPIC] = "topic", [FILTER_PROCESS] = "process",
	[FILTER_EVENT] = "event", [FILTER_CATEGORY] = "category",
};

static int add_rule(struct filter_rules *rules, struct filter_rule rule, struct kymo_err *err)
{
	if (rules->count == FILTER_RULES_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "more than %d rules; use a glob for many names",
			       FILTER_RULES_MAX);
	if (!ARRAY_ADD(rules->rule, rules->count, rules->room, rule))
		return err_no_memory(err);
	rules->has[rule.kind]++;
	rules->includes[rule.kind] += !rule.exclude;
	return 0;
}

int filter_rules_add(struct filter_rules *rules, enum filter_kind kind, const char *text,
		     struct kymo_err *err)
{
	struct filter_rule rule = { .kind = kind, .exclude = *text == '!' };
	const char *glob = text + rule.exclude;

	if (!*glob)
		return err_set(err, KYMO_EXIT_USAGE, "a rule for %s needs a name, which may contain * and ?: %s%s", kind_name[kind],
			       rule.exclude ? "!" : "", kind <= FILTER_TOPIC ? "/name" : "name");
	if (strpbrk(glob, ";\n"))	/* which end a rule in a list of rules */
		return err_set(err, KYMO_EXIT_USAGE, "a rule for %s has ';' or a line end in its name; write ? for that character",
			       kind_name[kind]);
	if (strlen(text) + strlen(kind_name[kind]) + 2 > FILTER_TEXT_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "a rule for %s has more than %d characters", kind_name[kind],
			       FILTER_TEXT_MAX - 16);
	rule.glob = strdup(glob);
	if (!rule.glob)
		return err_no_memory(err);
	if (add_rule(rules, rule, err) == 0)
		return 0;
	free(rule.glob);
	return -1;
}

/* The kind whose name is the @length bytes at @word; FILTER_KINDS: none. */
static enum filter_kind kind_of(const char *word, size_t length)
{
	unsigned kind = 0;

	while (kind < FILTER_KINDS &&
	       (strlen(kind_name[kind]) != length || memcmp(kind_name[kind], word, length) != 0))
		kind++;
	return (enum filter_kind)kind;
}

/* One rule in @size bytes. */
static int add_line(struct filter_rules *rules, const char *line, size_t size, struct kymo_err *err)
{
	char glob[FILTER_TEXT_MAX];
	enum filter_kind kind;
	size_t word, length;

	while (size && isspace((unsigned char)*line)) {
		line++;
		size--;
	}
	while (size && isspace((unsigned char)line[size - 1]))
		size--;
	if (!size || *line == '#')
		return 0;
	for (word = 0; word < size && !isspace((unsigned char)line[word]); word++)
		;
	kind = kind_of(line, word);
	if (kind == FILTER_KINDS)
		return err_set(err, KYMO_EXIT_USAGE, "'%.*s' is not a kind of rule; a rule is a line like \"node /perception/*\" or "
			       "\"topic !/rosout\", and its kind is node, topic, process, event or category",
			       (int)(word < 64 ? word : 64), line);
	while (word < size && isspace((unsigned char)line[word]))
		word++;
	length = size - word;
	if (length >= sizeof glob)
		return err_set(err, KYMO_EXIT_USAGE, "a rule for %s has more than %d characters", kind_name[kind],
			       FILTER_TEXT_MAX - 16);
	memcpy(glob, line + word, length);
	glob[length] = 0;
	return filter_rules_add(rules, kind, glob, err);
}

int filter_rules_line(struct filter_rules *rules, const char *line, struct kymo_err *err)
{
	return add_line(rules, line, strlen(line), err);
}

int filter_rules_text(struct filter_rules *rules, const char *text, struct kymo_err *err)
{
	int rc = 0;

	while (*text && rc == 0) {
		size_t size = strcspn(text, ";\n");

		rc = add_line(rules, text, size, err);
		text += size + (text[size] != 0);
	}
	return rc;
}

int filter_rules_file(struct filter_rules *rules, const char *path, struct kymo_err *err)
{
	FILE *file = fopen(path, "re");
	unsigned number = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int rc = 0;

	if (!file)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read the rules in %s: %s; pass a text file with "
			       "lines like \"topic !/rosout\"", path, strerror(errno));
	while (rc == 0 && (length = getline(&line, &room, file)) >= 0) {
		number++;
		rc = strlen(line) < (size_t)length ? err_set(err, KYMO_EXIT_INPUT, "not a text file") :
		     filter_rules_line(rules, line, err);
	}
	if (rc == 0 && ferror(file))
		rc = err_set(err, KYMO_EXIT_INPUT, "%s", strerror(errno));
	free(line);
	(void)fclose(file);
	if (rc == 0)
		return 0;
	if (err && err->status == KYMO_EXIT_USAGE)
		err->status = KYMO_EXIT_INPUT;
	return err_wrap(err, "%s:%u", path, number);
}

bool filter_rules_copy(struct filter_rules *to, const struct filter_rules *from)
{
	*to = (struct filter_rules){ 0 };
	for (unsigned i = 0; i < from->count; i++) {
		struct filter_rule rule = from->rule[i];

		rule.glob = strdup(rule.glob);
		if (!rule.glob || add_rule(to, rule, NULL) < 0) {
			free(rule.glob);
			filter_rules_free(to);
			return false;
		}
	}
	return true;
}

void filter_rules_free(struct filter_rules *rules)
{
	for (unsigned i = 0; i < rules->count; i++)
		free(rules->rule[i].glob);
	free(rules->rule);
	*rules = (struct filter_rules){ 0 };
}

char *filter_rule_text(const struct filter_rule *rule, char text[FILTER_TEXT_MAX])
{
	(void)snprintf(text, FILTER_TEXT_MAX, "%s %s%s", kind_name[rule->kind], rule->exclude ? "!" : "", rule->glob);
	return text;
}

char *filter_rules_join(const struct filter_rules *rules)
{
	char one[FILTER_TEXT_MAX], *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned i = 0; i < rules->count; i++)
		fprintf(out, "%s%s", i ? "; " : "", filter_rule_text(&rules->rule[i], one));
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static bool matches(const struct filter_rule *rule, const char *name)
{
	if (!name)
		return false;
	return rule->kind == FILTER_NODE || rule->kind == FILTER_TOPIC
		       ? text_ros_glob(rule->glob, name)
		       : fnmatch(rule->glob, name, 0) == 0;
}

bool filter_rules_want_any(const struct filter_rules *rules, enum filter_kind kind,
			   const char *const *name, unsigned count)
{
	bool included = !rules->includes[kind];

	for (unsigned i = 0; i < rules->count && rules->has[kind]; i++) {
		const struct filter_rule *rule = &rules->rule[i];
		bool found = false;

		for (unsigned j = 0; rule->kind == kind && j < count && !found; j++)
			found = matches(rule, name[j]);
		if (found && rule->exclude)
			return false;
		included |= found;
	}
	return included;
}

bool filter_rules_want(const struct filter_rules *rules, enum filter_kind kind, const char *name,
		       const char *other)
{
	return filter_rules_want_any(rules, kind, (const char *const[]){ name, other }, 2);
}
