/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/query_source.h"

#include "decode/inference/audit.h"
#include "session/recorded.h"
#include "session/retainers/named_bins.h"
#include "session/retainers/retaining.h"

static enum hi_status feed_dominators(void *arg, const struct hi_dominators **ret,
				      struct hi_error *err)
{
	struct hi_inspection *in = ((struct hi_query_feed *)arg)->in;
	enum hi_status status = HI_OK;

	hi_inspect_phase(in, "dominators");
	if (!in->results.dominators)
		status = in->source->results->compute_dominators(in, err);
	hi_inspect_phase(in, "query");
	*ret = in->results.dominators;
	return status;
}

static enum hi_status feed_census(void *arg, const struct hi_census **ret,
				  struct hi_error *err)
{
	struct hi_inspection *in = ((struct hi_query_feed *)arg)->in;
	const struct hi_dominators *d;
	enum hi_status status = HI_OK;

	/* A file has it with retained sizes; these are needed to compute it. */
	if (!in->results.census &&
	    !(in->source->stored && in->source->stored->has_census(in)))
		status = feed_dominators(arg, &d, err);
	if (!in->results.census && status == HI_OK)
		status = in->source->results->compute_census(in, err);
	*ret = in->results.census;
	return status;
}

static enum hi_status feed_censuses(void *arg, const struct hi_query_census **ret,
				    size_t *n_ret, struct hi_error *err)
{
	struct hi_query_feed *feed = arg;
	const struct hi_census *this_one = NULL;
	enum hi_status status = feed_census(arg, &this_one, err);

	return status == HI_OK
		       ? hi_query_read_censuses(&feed->censuses, feed->in, this_one,
						feed->time_ns, ret, n_ret, err)
		       : status;
}

static enum hi_status feed_marks(void *arg, const struct hi_snapshots_marks **ret,
				 struct hi_error *err)
{
	struct hi_query_feed *feed = arg;
	enum hi_status status = hi_query_read_marks(feed->in, &feed->marks, err);

	*ret = &feed->marks;
	return status;
}

static enum hi_status feed_retainers(void *arg, struct hi_query_sets *ret,
				     struct hi_error *err)
{
	struct hi_inspection *in = ((struct hi_query_feed *)arg)->in;
	const struct hi_options *o = in->options;
	enum hi_status status;

	hi_inspect_phase(in, "retainer sets");
	status = hi_retaining_compute(in, err);
	hi_inspect_phase(in, "query");
	if (status != HI_OK)
		return status;
	*ret = (struct hi_query_sets){.table = &in->profile.retaining->sets->table,
				      .pool = in->profile.retaining->pool,
				      .name = hi_interner_name_of,
				      .arg = &in->profile.retaining->names,
				      .join = ", ",
				      .has_pure = o->profile.pure || o->output.json};
	return HI_OK;
}

/* ---- bins ---- */

static enum hi_status feed_bins(void *arg, struct hi_query_sets *ret,
				struct hi_error *err)
{
	struct hi_query_feed *feed = arg;
	struct hi_inspection *in = feed->in;
	const char *join = in->options->profile.join;
	enum hi_status status;

	if (!in->profile.roots)
		return hi_fail(
			err, HI_USAGE, 0,
			"table \"bins\" needs at least one --root NAME=EXPRESSION");
	status = hi_set_pool_create(&feed->pool, err);
	if (status == HI_OK)
		status = hi_named_bins_compute(in, feed->pool, &feed->bins, err);
	hi_inspect_phase(in, "query");
	if (status != HI_OK)
		return status;
	*ret = (struct hi_query_sets){.table = &feed->bins->table,
				      .pool = feed->pool,
				      .name = hi_named_roots_name,
				      .arg = in->profile.roots,
				      .join = join ? join : "-",
				      .has_pure = true,
				      .noroot = &feed->bins->noroot,
				      .leak = &feed->bins->leak,
				      .leak_is_unknown = !hi_inspect_heap_is_known(in)};
	return HI_OK;
}

/* ---- labels and used bytes ---- */

/* All of a node at once: they cost as much as one. */
static enum hi_status read_labels(struct hi_query_feed *feed, hi_node node,
				  struct hi_error *err)
{
	uint32_t n = hi_graph_edges(feed->in->graph, node).count;
	enum hi_status status = HI_OK;

	if (!feed->labels.in)
		status = hi_edge_text_open(feed->in, &feed->labels, err);
	if (status != HI_OK || feed->node == node)
		return status;
	feed->node = HI_NODE_NONE;
	if (!hi_vector_reserve(&feed->texts, n))
		return hi_fail_memory(err, "names of edges");
	status = hi_edge_text_read(&feed->labels, node, feed->texts.items, err);
	if (status == HI_OK)
		feed->node = node;
	return status;
}

static enum hi_status feed_label(void *arg, hi_node node, uint32_t index,
				 const char **ret, struct hi_error *err)
{
	struct hi_query_feed *feed = arg;
	enum hi_status status = read_labels(feed, node, err);

	if (status == HI_OK)
		*ret = feed->texts.items[index];
	return status;
}

static enum hi_status feed_used_bytes(void *arg, hi_node object, uint64_t *ret,
				      struct hi_error *err)
{
	struct hi_inspection *in = ((struct hi_query_feed *)arg)->in;
	enum hi_status status = in->source->contents->open_used_bytes(in, err);

	if (status == HI_OK)
		*ret = in->source->contents->used_bytes(in, object);
	return status;
}

/* ---- contents ---- */

static enum hi_status compare_contents(struct hi_query_feed *feed, struct hi_error *err)
{
	struct hi_inspection *in = feed->in;
	enum hi_status status;

	hi_inspect_phase(in, "comparing contents");
	status = in->source->contents->find_equal(in, &feed->alike, &feed->equal, err);
	hi_inspect_phase(in, "query");
	return status;
}

static enum hi_status feed_equal_object(void *arg, hi_node object, hi_node *ret,
					struct hi_error *err)
{
	struct hi_query_feed *feed = arg;
	enum hi_status status = HI_OK;

	if (!feed->has_equal)
		status = compare_contents(feed, err);
	if (status != HI_OK)
		return status;
	feed->has_equal = true;
	*ret = feed->equal && feed->equal[object] < HI_MARK_UNREAD ? feed->equal[object]
								   : HI_NODE_NONE;
	return HI_OK;
}

static enum hi_status feed_audit(void *arg, const struct hi_audit **ret,
				 struct hi_error *err)
{
	struct hi_query_feed *feed = arg;
	struct hi_inspection *in = feed->in;
	enum hi_status status = in->source->require_image(in, "audit", err);

	if (status == HI_OK && !feed->has_audit)
		status = hi_runtime_audit(in->decoders.typing, in->decoders.runtime,
					  in->graph, &feed->audit, err);
	if (status != HI_OK)
		return status;
	feed->has_audit = true;
	*ret = &feed->audit;
	return HI_OK;
}

static enum hi_status feed_recorded(void *arg, const struct hi_recorded **ret,
				    struct hi_error *err)
{
	return hi_inspect_recorded(((struct hi_query_feed *)arg)->in, ret, err);
}

static enum hi_status feed_events(void *arg, const struct hi_stored_events **ret,
				  struct hi_error *err)
{
	struct hi_inspection *in = ((struct hi_query_feed *)arg)->in;

	return in->source->results->read_events(in, ret, err);
}

void hi_query_feed_begin(struct hi_query_feed *feed, struct hi_inspection *in,
			 uint64_t time_ns)
{
	*feed = (struct hi_query_feed){
		.in = in, .node = HI_NODE_NONE, .time_ns = time_ns};
	feed->source = (struct hi_query_source){
		.graph = in->graph,
		.reach = in->results.reach,
		.ledger = in->results.ledger_known ? &in->results.ledger : NULL,
		.leaks_unknown = !hi_inspect_heap_is_known(in),
		.dominators = feed_dominators,
		.census = feed_census,
		.censuses = feed_censuses,
		.marks = feed_marks,
		.audit = feed_audit,
		.recorded = feed_recorded,
		.events = feed_events,
		.retainers = feed_retainers,
		.bins = feed_bins,
		.label = feed_label,
		.used = feed_used_bytes,
		.equal = feed_equal_object,
		.arg = feed};
}

void hi_query_feed_end(struct hi_query_feed *feed)
{
	hi_query_censuses_free(&feed->censuses);
	hi_snapshots_marks_free(&feed->marks);
	hi_audit_deinit(&feed->audit);
	hi_edge_text_close(&feed->labels);
	hi_vector_free(&feed->texts);
	hi_contents_marks_free(&feed->alike);
	hi_bins_destroy(feed->bins);
	hi_set_pool_destroy(feed->pool);
}
