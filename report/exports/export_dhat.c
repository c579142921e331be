/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DHAT's JSON, file version 2: the allocations of a recording by call stack, for the
 * viewer that valgrind has (dh_view.html).
 *
 * Note [What of DHAT is known]
 *
 * A program point is a context. Known are its total of bytes and blocks (tb, tbk), the
 * most that were live at a time (mb, mbk), and what is not freed at the end (eb, ebk);
 * unlike what is in use elsewhere this includes leaks, as it does in DHAT. Not known are
 * the lifetimes (tl) and what was live when the whole heap was largest (gb, gbk). The
 * format has one flag for all of them: with "bklt" a file must have gb and gbk, so this
 * one is without. The viewer then shows totals only; the numbers that are known are in
 * the file for other readers. Nothing is known of accesses: "bkacc" is false, too.
 *
 * Source: valgrind, dhat/dh_main.c ("File format") and dhat/dh_view.js.
 */
#include <inttypes.h>

#include "report/exports/recorded_stacks.h"
#include "report/function_name.h"

/* Entries of the frame table: "[root]", the rows of the frames, these. */
enum { NO_STACK, CUT, NAMED };

static const char *const named_frames[NAMED] = {"[no stack]",
						"[outer frames are missing]"};

struct dhat_writer {
	struct hi_export *x;
	const struct hi_recorded *r;
	const struct hi_mapped_file *files;
	size_t n_files;
	bool has_point;
};

static uint32_t number_of_named_frame(const struct dhat_writer *w, unsigned which)
{
	return 1 + w->r->frames.n_rows + which;
}

/* ---- program points ---- */

static void put_point_numbers(struct dhat_writer *w, const struct hi_context_totals *t,
			      bool knows_most)
{
	fprintf(w->x->out, "%s{\"tb\":%" PRIu64 ",\"tbk\":%" PRIu64,
		w->has_point ? ",\n" : "", t->bytes, t->allocs);
	w->has_point = true;
	if (knows_most)
		fprintf(w->x->out, ",\"mb\":%" PRIu64 ",\"mbk\":%" PRIu64, t->most_bytes,
			t->most_live);
	fprintf(w->x->out, ",\"eb\":%" PRIu64 ",\"ebk\":%" PRIu64 ",\"fs\":[",
		hi_totals_live_bytes(t), hi_totals_live(t));
}

static void put_point_of_stack(struct dhat_writer *w, uint32_t context,
			       const uint32_t *frames, unsigned n)
{
	const struct hi_frames *f = &w->r->frames;
	const char *comma = "";

	put_point_numbers(w, &w->r->totals[context], true);
	for (unsigned i = 0; i < n; i++)
		for (uint32_t k = f->first[frames[i]]; k < f->first[frames[i] + 1]; k++) {
			fprintf(w->x->out, "%s%" PRIu32, comma, 1 + k);
			comma = ",";
		}
	if (w->r->contexts.contexts[context].flags & HI_CONTEXT_CUT)
		fprintf(w->x->out, ",%" PRIu32, number_of_named_frame(w, CUT));
	fputs("]}", w->x->out);
}

static void add_dhat_totals(struct hi_context_totals *to,
			    const struct hi_context_totals *t)
{
	to->allocs += t->allocs;
	to->bytes += t->bytes;
	to->frees += t->frees;
	to->freed_bytes += t->freed_bytes;
	to->most_live = t->most_live;
	to->most_bytes = t->most_bytes;
}

/* Contexts without frames are one point: the viewer refuses two of one stack. The most
 * that were live at a time cannot be added up. */
static void put_all_points(struct dhat_writer *w)
{
	struct hi_context_totals no_stack = {};
	uint32_t frames[HI_STACK_FRAMES], without = 0;

	for (uint32_t i = 0; i < w->r->contexts.n_contexts; i++) {
		unsigned n = hi_context_frames(&w->r->contexts, i, frames);

		if (!w->r->totals[i].allocs)
			continue;
		if (n) {
			put_point_of_stack(w, i, frames, n);
			continue;
		}
		without++;
		add_dhat_totals(&no_stack, &w->r->totals[i]);
	}
	if (!without)
		return;
	put_point_numbers(w, &no_stack, without == 1);
	fprintf(w->x->out, "%" PRIu32 "]}", number_of_named_frame(w, NO_STACK));
}

/* ---- the frame table ---- */

/* "0x401136: main (src/app.c:20)", as valgrind writes it. */
static void put_dhat_frame(struct dhat_writer *w, const struct hi_frame_row *row)
{
	FILE *out = w->x->out;
	char name[HI_FUNCTION_SHORT_SIZE];

	fprintf(out, ",\n\"0x%" PRIX64 ": ",
		hi_frame_row_address(row, w->files, w->n_files));
	hi_export_put_quoted(
		out, *row->function ? hi_function_short(row->function, name, sizeof(name))
				    : "???");
	fputs(*row->file || !*row->module ? " (" : " (in ", out);
	hi_export_put_quoted(out, *row->file	 ? row->file
				  : *row->module ? row->module
						 : "???");
	if (*row->file && row->line)
		fprintf(out, ":%" PRIu32, row->line);
	fputs(")\"", out);
}

static void put_frame_table(struct dhat_writer *w)
{
	const struct hi_frames *f = &w->r->frames;

	fputs("],\n\"ftbl\":[\"[root]\"", w->x->out);
	for (uint32_t i = 0; i < f->n_rows; i++)
		put_dhat_frame(w, &f->rows[i]);
	for (unsigned i = 0; i < NAMED; i++) {
		fputs(",\n", w->x->out);
		hi_export_put_json(w->x->out, named_frames[i]);
	}
	fputs("]}\n", w->x->out);
}

/* ---- all of it ---- */

static uint64_t length_in_us(const struct hi_births *births)
{
	uint64_t us = births->end_ns > births->start_ns
			      ? (births->end_ns - births->start_ns) / 1000
			      : 0;

	return us ? us : 1; /* the viewer divides by it */
}

enum hi_status hi_export_dhat(struct hi_export *x, struct hi_error *err)
{
	struct dhat_writer w = {.x = x};
	enum hi_status status = x->source->recorded(x->arg, true, &w.r, err);

	if (status == HI_OK)
		status = x->source->mapped_files(x->arg, &w.files, &w.n_files, err);
	if (status != HI_OK)
		return status;
	fputs("{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\","
	      "\"bklt\":false,\"bkacc\":false,\"tu\":\"\\u00b5s\",\"Mtu\":\"s\",\"cmd\":",
	      x->out);
	hi_export_put_json(x->out, x->header->exe);
	fprintf(x->out, ",\"pid\":%d,\"te\":%" PRIu64 ",\n\"pps\":[", x->header->pid,
		length_in_us(w.r->births));
	put_all_points(&w);
	put_frame_table(&w);
	hi_export_warn_lost(x, w.r);
	return HI_OK;
}
