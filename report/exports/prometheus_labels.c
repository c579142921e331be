/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/prometheus_labels.h"

#include <string.h>

#include "base/text.h"
#include "report/escape.h"

enum { VALUE = 4096 };

static void put_one_label(FILE *out, size_t *n, const char *name, size_t length,
			  const char *value)
{
	char safe[VALUE];

	fprintf(out, "%s%.*s=\"", (*n)++ ? "," : "{", (int)length, name);
	hi_escape_again(safe, sizeof(safe), value, strlen(value));
	for (const char *c = safe; *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', out);
		fputc(*c, out);
	}
	fputc('"', out);
}

void hi_prometheus_put_labels(FILE *out, const struct hi_prometheus_labels *labels,
			      const char *type, const char *module)
{
	char pid[16];
	size_t n = 0;

	if (*labels->exe)
		put_one_label(out, &n, "exe", 3, hi_base_name(labels->exe));
	snprintf(pid, sizeof(pid), "%d", labels->pid);
	if (labels->pid)
		put_one_label(out, &n, "pid", 3, pid);
	for (size_t i = 0; i < labels->n_added; i++) {
		size_t length = strcspn(labels->added[i], "=");

		put_one_label(out, &n, labels->added[i], length,
			      labels->added[i] + length + 1);
	}
	if (type)
		put_one_label(out, &n, "type", 4, type);
	if (type)
		put_one_label(out, &n, "module", 6, module);
	if (n)
		fputc('}', out);
}

const char *hi_prometheus_check_label(const char *text)
{
	static const char *const taken[] = {"exe=", "pid=", "type=", "module="};
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t n = strspn(text, letters);

	if (!n || text[n] != '=' || (*text >= '0' && *text <= '9'))
		return "not NAME=VALUE with a name of letters, digits and _";
	if (strncmp(text, "__", 2) == 0)
		return "names that begin with __ are Prometheus's own";
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strncmp(text, taken[i], strlen(taken[i])) == 0)
			return "this label is there already";
	return NULL;
}
