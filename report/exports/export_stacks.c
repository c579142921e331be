/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes by the path down the dominator tree: folded stacks, speedscope, massif. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/merged.h"
#include "report/exports/export.h"
#include "report/pictures/merged_text.h"

static enum hi_status merge_stacks(struct hi_export *x, struct hi_merged **ret,
				   struct hi_error *err)
{
	enum hi_status status = x->source->merge(x->arg, ret, err);

	if (status == HI_OK) {
		hi_export_warn_cut(x, *ret);
		hi_export_warn_leaked(x);
	}
	return status;
}

/* Fills in the frames of the path from the outermost node on, without the super-root.
 * Returns their number. */
static uint32_t way_to(const struct hi_merged *m, uint32_t node,
		       uint32_t frames[HI_MERGED_DEPTH + 1])
{
	uint32_t n = m->nodes[node].depth;

	for (uint32_t at = n; at > 0; at--) {
		frames[at - 1] = m->nodes[node].frame;
		node = m->nodes[node].parent;
	}
	return n;
}

/* ---- folded ---- */

/* ";" and blanks at the end would be read as something else. */
static void put_stack_frame(FILE *out, const char *name)
{
	char safe[HI_EXPORT_TEXT];

	for (const char *c = hi_export_safe(safe, name); *c; c++)
		fputc(*c == ';' ? ':' : *c, out);
}

enum hi_status hi_export_folded(struct hi_export *x, struct hi_error *err)
{
	HI_GUARD(hi_merged_destroy) struct hi_merged *m = NULL;
	uint32_t frames[HI_MERGED_DEPTH + 1];
	char text[HI_MERGED_TEXT];
	enum hi_status status = merge_stacks(x, &m, err);

	for (size_t i = 1; status == HI_OK && i < m->count; i++) {
		uint32_t n = way_to(m, (uint32_t)i, frames);

		if (!m->nodes[i].bytes)
			continue;
		for (uint32_t k = 0; k < n; k++) {
			fputs(k ? ";" : "", x->out);
			put_stack_frame(x->out,
					hi_merged_text(x->graph, m, frames[k], text));
		}
		fprintf(x->out, " %" PRIu64 "\n", m->nodes[i].bytes);
	}
	return status;
}

/* ---- speedscope ---- */

static void put_samples(struct hi_export *x, const struct hi_merged *m)
{
	uint32_t frames[HI_MERGED_DEPTH + 1];
	bool first = true;

	for (size_t i = 1; i < m->count; i++) {
		uint32_t n = way_to(m, (uint32_t)i, frames);

		if (!m->nodes[i].bytes)
			continue;
		fputs(first ? "[" : ",\n[", x->out);
		first = false;
		for (uint32_t k = 0; k < n; k++)
			fprintf(x->out, "%s%u", k ? "," : "", frames[k]);
		fputc(']', x->out);
	}
}

static uint64_t put_weights(struct hi_export *x, const struct hi_merged *m)
{
	uint64_t sum = 0;

	for (size_t i = 1; i < m->count; i++) {
		if (!m->nodes[i].bytes)
			continue;
		fprintf(x->out, "%s%" PRIu64, sum ? "," : "", m->nodes[i].bytes);
		sum += m->nodes[i].bytes;
	}
	return sum;
}

enum hi_status hi_export_speedscope(struct hi_export *x, struct hi_error *err)
{
	HI_GUARD(hi_merged_destroy) struct hi_merged *m = NULL;
	enum hi_status status = merge_stacks(x, &m, err);
	char text[HI_MERGED_TEXT];
	uint64_t sum;

	if (status != HI_OK)
		return status;
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"heapinspect\",\"shared\":{\"frames\":[",
	      x->out);
	for (uint32_t i = 0; i < m->n_frames; i++) {
		fputs(i ? ",\n{\"name\":" : "{\"name\":", x->out);
		hi_export_put_json(x->out, hi_merged_text(x->graph, m, i, text));
		fputc('}', x->out);
	}
	fputs("]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"live heap\","
	      "\"unit\":\"bytes\",\"startValue\":0,\n\"samples\":[",
	      x->out);
	put_samples(x, m);
	fputs("],\n\"weights\":[", x->out);
	sum = put_weights(x, m);
	fprintf(x->out, "],\"endValue\":%" PRIu64 "}]}\n", sum);
	return HI_OK;
}

/* ---- massif: one detailed snapshot, innermost last ---- */

struct massif {
	struct hi_export *x;
	const struct hi_merged *m;
	uint64_t *all;	 /* bytes of node and below */
	uint32_t *first; /* children, as rows of `child` */
	uint32_t *child;
};

static bool sum_massif_children(struct massif *s)
{
	s->all = hi_merged_below(s->m);
	return s->all && hi_merged_list_children(s->m, &s->first, &s->child);
}

/* The line of a node; its children follow. */
static void put_massif_line(const struct massif *s, uint32_t node)
{
	const struct hi_merged_node *m = &s->m->nodes[node];
	char safe[HI_EXPORT_TEXT], text[HI_MERGED_TEXT];
	uint32_t n = 0;

	for (uint32_t i = s->first[node]; i < s->first[node + 1]; i++)
		n += s->all[s->child[i]] != 0;
	fprintf(s->x->out, "%*sn%u: %" PRIu64 " ", (int)m->depth, "", n, s->all[node]);
	if (node)
		fprintf(s->x->out, "0x%X: %s (heap)\n", m->frame + 1,
			hi_export_safe(
				safe, hi_merged_text(s->x->graph, s->m, m->frame, text)));
	else
		fputs("(heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n",
		      s->x->out);
}

static bool put_massif_tree(const struct massif *s)
{
	/* The path from the root, with where each is in its children. */
	struct {
		uint32_t node, next;
	} path[HI_MERGED_DEPTH + 2] = {{0, s->first[0]}};
	unsigned depth = 1;

	put_massif_line(s, 0);
	while (depth) {
		uint32_t node = path[depth - 1].node, at = path[depth - 1].next;

		if (at >= s->first[node + 1]) {
			depth--;
			continue;
		}
		path[depth - 1].next++;
		if (!s->all[s->child[at]])
			continue;
		put_massif_line(s, s->child[at]);
		path[depth].node = s->child[at];
		path[depth].next = s->first[s->child[at]];
		depth++;
	}
	return true;
}

enum hi_status hi_export_massif(struct hi_export *x, struct hi_error *err)
{
	HI_GUARD(hi_merged_destroy) struct hi_merged *m = NULL;
	char safe[HI_EXPORT_TEXT];
	enum hi_status status = merge_stacks(x, &m, err);
	struct massif s = {.x = x, .m = m};

	if (status == HI_OK && !sum_massif_children(&s))
		status = hi_fail_memory(err, "export");
	if (status == HI_OK) {
		fprintf(x->out,
			"desc: heapinspect\ncmd: %s\ntime_unit: i\n#-----------\n"
			"snapshot=0\n#-----------\ntime=0\nmem_heap_B=%" PRIu64
			"\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=peak\n",
			hi_export_safe(safe, x->header->exe), s.all[0]);
		put_massif_tree(&s);
	}
	free(s.all);
	free(s.first);
	free(s.child);
	return status;
}
