/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * docs/schema comes from described fields (report/document.h): a file whose fields have
 * changed fails here, and scripts/schemas --update takes the new one. Documents that are
 * not described yet stand in report/schemas, where "@census/v1@" is the place of a
 * described one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/parts/hidden_rows.h"
#include "report/parts/stop_place.h"
#include "report/reports/audit/audit_report.h"
#include "report/reports/census/census_report.h"
#include "report/reports/diff/diff_report.h"
#include "report/reports/diff/survived_report.h"
#include "report/reports/leaks/leaks_report.h"
#include "report/reports/paths/paths_report.h"
#include "report/reports/peaks/peaks_report.h"
#include "report/reports/retained/retained_report.h"
#include "report/reports/retainers/retainers_report.h"
#include "report/reports/roots/bins_report.h"
#include "report/reports/safepoints/safepoints_report.h"
#include "report/reports/snapshots/snapshots_report.h"
#include "report/reports/spacetime/spacetime_report.h"
#include "report/reports/up/up_report.h"
#include "report/reports/waste/waste_report.h"
#include "tests/harness.h"
#include "tests/support/golden.h"

static const struct {
	const char *name, *title; /* title: of a file of its own; NULL: a part of rows */
	const struct hi_doc_fields *fields;
} documents[] = {
	/* Parts of documents, which other parts refer to. */
	{"node", NULL, &hi_node_fields},
	{"hidden", NULL, &hi_hidden_fields},
	{"place", NULL, &hi_probed_fields},
	{"census/v1", NULL, &hi_census_document},
	{"audit/v1", NULL, &hi_audit_document},
	{"diff/v1", NULL, &hi_diff_document},
	{"leaks/v1", NULL, &hi_leaks_document},
	{"paths/v1", NULL, &hi_paths_document},
	{"retained/v1", NULL, &hi_retained_document},
	{"retainers/v1", NULL, &hi_retainers_document},
	{"roots/v1", NULL, &hi_bins_document},
	{"snapshots/v1", "heapinspect snapshots --json", &hi_snapshots_document},
	{"survived/v1", NULL, &hi_survived_document},
	{"up/v1", NULL, &hi_up_document},
	{"waste/v1", NULL, &hi_waste_document},
	{"peaks/v1", "heapinspect peaks --json", &hi_peaks_document},
	{"spacetime/v1", "heapinspect spacetime --json", &hi_spacetime_document},
	{"safepoints/v1", "heapinspect safepoints --json", &hi_safepoints_document},
};
enum { N_DOCUMENTS = sizeof(documents) / sizeof(documents[0]) };

static char *read_schema_file(const char *folder, const char *name)
{
	char path[512], *text = NULL;
	size_t size = 0;
	FILE *in, *out = open_memstream(&text, &size);
	int c;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	in = fopen(path, "r");
	HI_ASSERT(in != NULL && out != NULL);
	while ((c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	fclose(out);
	return text;
}

static void expect_schema_file(const char *name, const char *text)
{
	char *committed = read_schema_file(HI_SOURCE_DIR "/docs/schema", name);
	char path[512];
	FILE *out;

	HI_ASSERT(mkdir(HI_BINARY_DIR "/schemas", 0777) == 0 || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/schemas/%s", HI_BINARY_DIR, name);
	out = fopen(path, "w");
	HI_ASSERT(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
	if (strcmp(committed, text) != 0) {
		char *difference = hi_golden_difference(committed, text);

		hi_test_error(__FILE__, __LINE__, "docs/schema/%s: scripts/schemas\n%s",
			      name, difference);
		free(difference);
	}
	free(committed);
}

/* Writes the template with the schemas of described documents in it. */
static void fill_template(const char *text, FILE *out)
{
	const char *line = text;

	while (*text) {
		size_t n = 0, i = 0;

		if (text[0] == '"' && text[1] == '@')
			n = strcspn(text + 2, "@");
		if (n == 0) {
			putc(*text, out);
			if (*text++ == '\n')
				line = text;
			continue;
		}
		while (i < N_DOCUMENTS && (strlen(documents[i].name) != n ||
					   strncmp(documents[i].name, text + 2, n) != 0))
			i++;
		HI_ASSERT(i < N_DOCUMENTS);
		hi_doc_put_schema(documents[i].fields,
				  strchr(documents[i].name, '/') ? documents[i].name
								 : NULL,
				  NULL, (unsigned)strspn(line, " "), out);
		text += n + 4;
	}
}

HI_TEST(schemas, are_those_of_the_fields)
{
	char *template =
		read_schema_file(HI_SOURCE_DIR "/report/schemas", "rows.v1.json");
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fill_template(template, out);
	fclose(out);
	expect_schema_file("rows.v1.json", text);
	free(template);
	free(text);
	for (size_t i = 0; i < N_DOCUMENTS; i++) {
		char name[64];

		if (!documents[i].title)
			continue;
		snprintf(name, sizeof(name), "%.*s.v1.json",
			 (int)strcspn(documents[i].name, "/"), documents[i].name);
		text = NULL;
		out = open_memstream(&text, &size);
		hi_doc_put_schema(documents[i].fields, documents[i].name,
				  documents[i].title, 0, out);
		putc('\n', out);
		fclose(out);
		expect_schema_file(name, text);
		free(text);
	}
}
