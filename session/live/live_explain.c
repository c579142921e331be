/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/live_explain.h"

#include "base/cleanup.h"
#include "decode/describe/evidence_chain.h"
#include "decode/describe/runtime_facts.h"
#include "decode/inference/verdict.h"
#include "report/reports/explain/explain_report.h"

static enum hi_status add_evidence(struct hi_inspection *in, hi_node node,
				   struct hi_explain_report *r, struct hi_error *err)
{
	char text[512] = "";

	hi_typing_explain_type(in->decoders.typing, in->graph, node, text, sizeof(text));
	r->evidence = hi_arena_strdup(&in->arena, text);
	return r->evidence ? HI_OK : hi_fail_memory(err, "evidence");
}

static enum hi_status add_evidence_chain(struct hi_inspection *in, hi_node node,
					 struct hi_explain_report *r,
					 struct hi_error *err)
{
	HI_GUARD(hi_evidence_chain_destroy) struct hi_evidence_chain *chain = NULL;
	struct hi_explain_step *steps;
	enum hi_status status =
		hi_evidence_chain_find(in->decoders.typing, in->graph, node, &chain, err);

	if (status != HI_OK)
		return status;
	steps = hi_arena_alloc(&in->arena, (chain->n_steps + 1) * sizeof(*steps));
	if (!steps)
		return hi_fail_memory(err, "chain of evidence");
	for (size_t i = 0; i < chain->n_steps; i++) {
		const struct hi_evidence_step *step = &chain->steps[i];

		steps[i] = (struct hi_explain_step){
			.info = hi_node_info(in->graph, in->results.dominators,
					     step->from),
			.text = hi_arena_strdup(&in->arena, step->field),
			.says = hi_arena_strdup(&in->arena, step->inferred.type),
			.origin = step->inferred.origin,
			.is_believed = step->inferred.is_accepted};
		if (!steps[i].text || !steps[i].says)
			return hi_fail_memory(err, "chain of evidence");
	}
	r->steps = steps;
	r->n_steps = chain->n_steps;
	r->gap = chain->gap;
	r->left_out = chain->left_out;
	return HI_OK;
}

static enum hi_status add_facts(struct hi_inspection *in, hi_node node,
				struct hi_explain_report *r, struct hi_error *err)
{
	struct hi_facts *facts = hi_facts_open(in->decoders.typing, in->graph);
	struct hi_runtime_facts f;
	bool known = hi_facts_read(facts, node, &f);

	hi_facts_close(facts);
	if (!known)
		return HI_OK;
	r->id = f.address;
	r->counts = f.counts;
	r->counted = f.counted;
	r->name = hi_arena_strdup(&in->arena, f.name);
	r->value = hi_arena_strdup(&in->arena, f.value);
	return r->name && r->value ? HI_OK : hi_fail_memory(err, "facts of an object");
}

enum hi_status hi_live_explain_object(struct hi_inspection *in, hi_node object,
				      struct hi_explain_report *r, struct hi_error *err)
{
	enum hi_status status = add_evidence(in, object, r, err);

	if (status == HI_OK)
		status = add_facts(in, object, r, err);
	return status == HI_OK ? add_evidence_chain(in, object, r, err) : status;
}

const char *hi_live_explain_likely(struct hi_inspection *in, hi_node object)
{
	char text[512] = "";

	hi_typing_explain_likely(in->decoders.typing, in->graph, object, text,
				 sizeof(text));
	return hi_arena_strdup(&in->arena, text);
}
