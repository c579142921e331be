/* SPDX-License-Identifier: BSD-2-Clause */
/* Contours of deep_report.h. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/reports/deep/deep_report.h"

enum { MOST_LINES = 100000 };

struct contour_word {
	const char *text;
	size_t n;
};

static struct contour_word next_word(const char **at, const char *end)
{
	struct contour_word word;

	while (*at < end && isspace((unsigned char)**at))
		(*at)++;
	word.text = *at;
	while (*at < end && !isspace((unsigned char)**at))
		(*at)++;
	word.n = (size_t)(*at - word.text);
	return word;
}

/* What is left of a line: names of modules may have spaces. */
static struct contour_word rest_of_line(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	return (struct contour_word){at, (size_t)(end - at)};
}

static bool is_contour_word(struct contour_word word, const char *text)
{
	return strlen(text) == word.n && memcmp(text, word.text, word.n) == 0;
}

/* The root belongs to no module. */
static bool exclude_module(const struct hi_deep_profile *profile,
			   struct contour_word module, bool internal,
			   struct hi_deep_contour *c)
{
	bool found = false;

	for (uint32_t i = 1; i < c->n_functions; i++) {
		const struct hi_deep_procedure *f = &profile->functions.items[i];
		const char *name = hi_deep_profile_text(profile, f->module);

		if (!is_contour_word(module, name) &&
		    !is_contour_word(module, hi_base_name(name)))
			continue;
		found = true;
		c->excludes[i] |= !internal || !f->is_exported;
	}
	return found;
}

static enum hi_status add_contour_line(const struct hi_deep_profile *profile,
				       const char *line, const char *end,
				       struct hi_deep_contour *c, struct hi_error *err)
{
	struct contour_word verb = next_word(&line, end),
			    module = rest_of_line(line, end);
	bool internal = is_contour_word(verb, "internal");

	if (!verb.n || *verb.text == '#')
		return HI_OK;
	if ((!internal && !is_contour_word(verb, "all")) || !module.n) {
		char shown[60];

		hi_text_escape(shown, sizeof(shown), verb.text, verb.n);
		return hi_fail(err, HI_USAGE, 0,
			       "contour: a line is `all MODULE` or `internal MODULE`, "
			       "not \"%s%s\"",
			       shown, module.n ? " …" : "");
	}
	if (++c->n_lines > MOST_LINES)
		return hi_fail(err, HI_LIMIT, 0, "contour: more than %d lines",
			       MOST_LINES);
	if (!exclude_module(profile, module, internal, c) && !c->n_unknown++)
		hi_text_escape(c->first_unknown, sizeof(c->first_unknown), module.text,
			       module.n);
	return HI_OK;
}

enum hi_status hi_deep_contour_parse(const struct hi_deep_profile *profile,
				     const char *text, size_t size,
				     struct hi_deep_contour *ret, struct hi_error *err)
{
	struct hi_deep_contour c = {.n_functions = (uint32_t)profile->functions.count};
	const char *end = text + size;
	enum hi_status status = HI_OK;

	c.excludes = hi_calloc(c.n_functions + 1u, sizeof(*c.excludes));
	if (!c.excludes)
		return hi_fail_memory(err, "contour");
	while (!status && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		status = add_contour_line(profile, text, stop, &c, err);
		text = newline ? newline + 1 : end;
	}
	if (!status && c.n_lines && c.n_unknown == c.n_lines)
		status = hi_fail(err, HI_USAGE, 0,
				 "contour: the profile has none of its %u modules "
				 "(%.100s …)",
				 c.n_lines, c.first_unknown);
	if (status)
		hi_deep_contour_free(&c);
	else
		*ret = c;
	return status;
}

void hi_deep_contour_free(struct hi_deep_contour *contour)
{
	free(contour->excludes);
	*contour = (struct hi_deep_contour){};
}
