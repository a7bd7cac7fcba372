# SPDX-License-Identifier: Apache-2.0
# usage: awk -f man3.awk -v page=NAME -v header=FILE -v order=COMPILER-LINE -v also=ROFF HEADER... > NAME.3
# A manual page from the comments of a public header, of which the first comment is the description. A comment that
# begins with two asterisks belongs to the function, or macro with arguments, behind it; so do declarations that follow without a blank
# line. Structures, enumerations and constants are shown as they stand there. Of further headers only that is taken.
# Names with two underscores, and what is behind a line "below here", are the header's own affair.

function roff(text)
{
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/'/, "\\(aq", text)
	gsub(/`/, "\\(ga", text)
	gsub(/\^/, "\\(ha", text)
	gsub(/~/, "\\(ti", text)
	return text ~ /^\./ ? "\\&" text : text
}

# Prose: @name in italics, `code` in bold.
function prose(text,    out, part, count, i)
{
	count = split(text, part, "`")
	if (count % 2 == 0)
		return roff(text)
	for (i = 1; i <= count; i++)
		out = out (i % 2 ? roff(part[i]) : "\\fB" roff(part[i]) "\\fR")
	while (match(out, /@[a-z_]+/))
		out = substr(out, 1, RSTART - 1) "\\fI" substr(out, RSTART + 1, RLENGTH - 1) "\\fR" substr(out, RSTART + RLENGTH)
	return out
}

# Tabs as blanks, up to the next eighth column.
function untabbed(text,    at)
{
	while ((at = index(text, "\t")))
		text = substr(text, 1, at - 1) substr("        ", 1, 8 - (at - 1) % 8) substr(text, at + 1)
	return text
}

function literal_lines(text,    part, count, i, out)
{
	count = split(text, part, "\n")
	for (i = 1; i <= count; i++)
		out = out roff(untabbed(part[i])) "\n"
	return out
}

# The last word of a declaration before its arguments, or before its body.
function name_of(text)
{
	sub(/[(\[].*/, "", text)
	sub(/ *[;{].*/, "", text)
	sub(/.*[ *]/, "", text)
	return text
}

# A comment's lines as paragraphs, and as examples where they are indented.
function body(from, to,    i, line, literal, out, gap)
{
	gap = 1
	for (i = from; i <= to; i++) {
		line = untabbed(note[i])
		if (match(line, /^    KYMO_[A-Z]+\((category|provider), name/))
			names = names ", " substr(line, 5, index(line, "(") - 5)
		if (line ~ /^[ \t]*$/) {
			gap = 1
			if (literal && note[i + 1] ~ /^[ \t]/)
				out = out "\n"
			continue
		}
		if (line ~ /^    / && !item) {
			if (!literal)
				out = out (gap ? ".PP\n" : "") ".RS 4\n.nf\n"
			literal = 1
			out = out roff(line) "\n"
		} else {
			if (literal)
				out = out ".fi\n.RE\n"
			if (literal || gap) {
				out = out ".PP\n"
				item = 0
			}
			literal = 0
			if (match(line, /^@[a-z_]+:/)) {
				out = out ".TP\n\\fI" substr(line, 2, RLENGTH - 2) "\\fR\n"
				line = substr(line, RLENGTH + 1)
				item = 1
			}
			sub(/^ */, "", line)
			if (match(line, /^(Return|Context):/) && !gap)
				out = out ".PP\n"
			if (line ~ /^(Return|Context):/)
				item = 0
			out = out prose(line) "\n"
		}
		gap = 0
	}
	item = 0
	return out (literal ? ".fi\n.RE\n" : "")
}

# What was gathered since the last blank line: a comment, and declarations.
function flush(    i, first)
{
	if (declared != "") {
		if (documented) {
			first = note[1]
			sub(/^[^(]*\(\) - /, "", first)
			note[1] = toupper(substr(first, 1, 1)) substr(first, 2)
			for (i = 1; i < notes && note[i + 1] !~ /^@|^ *$/; i++)
				;
			sub(/[^.:]$/, "&.", note[i])
		}
		functions = functions ".SS " heading "\n.nf\n" declared ".fi\n" (notes ? body(1, notes) : "")
		synopsis = synopsis declared
	}
	declared = heading = ""
	notes = documented = 0
}

# Lines of a declaration, in bold.
function bold(text,    out)
{
	out = literal_lines(text)
	gsub(/\n/, "\\fR\n\\fB", out)
	sub(/\\fB$/, "", out)
	return "\\fB" out
}

function declare(text,    name, line)
{
	name = name_of(text)
	if (name ~ /__/ || name == "")
		return
	heading = heading (heading == "" ? "" : ", ") "\\fB" name "\\fR()"
	names = names ", " name
	declared = declared bold(text)
}

FNR == 1 { files++; over = began = 0 }
over { next }
/below here/ { flush(); over = 1; next }
/---- functions ----/ { next }
/SPDX-License/ { next }

# comments
!comment && /^\/\*/ {
	flush()
	notes = 0
	documented = /^\/\*\*/
	comment = 1
	line = $0
	sub(/^\/\*+ ?/, "", line)
	ends = sub(/ *\*\/$/, "", line)
	if (line != "")
		note[++notes] = line
	raw = $0 "\n"
	if (ends)
		comment = 0
	if (!comment && !began++ && files > 1)
		notes = 0
	next
}
comment {
	raw = raw $0 "\n"
	line = $0
	if (line ~ /^ \*\/ *$/) {
		comment = 0
	} else {
		ends = sub(/ *\*\/$/, "", line)
		sub(/^ ?\* ?/, "", line)
		note[++notes] = line
		comment = !ends
	}
	if (!comment && !began++) {
		if (files == 1)
			description = body(1, notes)
		notes = 0
		raw = ""
	}
	next
}

# structures, enumerations and classes, with the comment before them; of classes declarations only
/^(struct|enum|class) [a-z_]+ \{/ {
	kept = $2 !~ /_site/ && (header !~ /hpp$/ || /^class/) && !shown[$2]++
	text = raw $0 "\n"
	raw = ""
	notes = documented = 0
	class = /^class/
	inside = 1
	next
}
inside && /^\};/ {
	inside = 0
	if (kept)
		types = types ".PP\n.RS 4\n.nf\n" literal_lines(text $0) ".fi\n.RE\n"
	next
}
inside && (/^#ifdef __cplusplus/ || /^private:/) { inside = 2; next }	# not for here
inside && /^#else/ { inside = 1; next }
inside == 2 || inside && /^#endif|= delete;|kymo_site|KYMO_SPAN\(\) needs/ { next }
inside && class && /^\t\{/ { inside = 3; sub(/\n$/, ";\n", text); next }
inside == 3 { if (/^\t\}/) inside = 1; next }
inside {
	if (class)
		sub(/( : [a-z_]+\(.*\))? \{.*\}$/, ";")
	text = text $0 "\n"
	next
}
header ~ /hpp$/ { next }

/^$/ { flush(); raw = ""; next }
/^#define [A-Z_]+[ \t]/ && !/KYMO__|SITE/ {
	constants = constants roff(untabbed($0)) "\n"
	raw = ""
	next
}
documented && /^#define [A-Z_]+\(/ && declared == "" {
	line = $0
	sub(/^#define /, "", line)
	sub(/\).*/, ")", line)
	declare(line)
	next
}
/^(static inline )?[a-z][a-z0-9_ ]*[ *]+[a-z_0-9]+\(/ && !/__attribute|namespace/ {
	pending = $0
	sub(/^static inline /, "", pending)
	if (/;$/ || /\)$/) {
		sub(/;*$/, ";", pending)
		if (notes || declared != "" || !/static/)
			declare(pending)
		pending = ""
	}
	next
}
pending != "" {
	pending = pending "\n" $0
	if (/;$/) {
		declare(pending)
		pending = ""
	}
	next
}
/^\{/ { flush() }

END {
	flush()
	summary = description
	sub(/^\.PP\n/, "", summary)
	sub(/(\.[ \n]|:\n)(.|\n)*/, "", summary)
	gsub(/\n/, " ", summary)
	print ".\\\" SPDX-License-Identifier: Apache-2.0"
	print ".\\\" made by packaging/man3.awk from the header"
	printf ".TH \"%s\" \"3\" \"\" \"kymo\" \"kymo\"\n.nh\n.ad l\n", toupper(page)
	printf ".SH NAME\n%s%s \\- %s\n", roff(page), roff(names), tolower(substr(summary, 1, 1)) substr(summary, 2)
	printf ".SH SYNOPSIS\n.nf\n\\fB#include <kymo/%s>\\fR\n.sp\n%s.sp\n\\fB%s\\fR\n.fi\n", header, synopsis, roff(order)
	printf ".SH DESCRIPTION\n%s", description
	if (functions != "")
		printf ".SH FUNCTIONS\n%s", functions
	if (types != "" || constants != "")
		printf ".SH TYPES AND CONSTANTS\n"
	if (constants != "")
		printf ".nf\n%s.fi\n", constants
	printf "%s", types
	gsub(/[a-z.\\-]+\(/, "\\fB&", also)
	gsub(/\(/, "\\fR(", also)
	printf ".SH SEE ALSO\n%s\n", also
}
