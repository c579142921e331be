/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/options/option_take.h"
#include "report/reports/up/up_report.h"
#include "session/operands.h"
#include "session/retainers/retaining.h"

static const char *name_of_up_row(void *arg, uint32_t identity)
{
	return hi_interner_name(arg, identity);
}

/* Without --retainer everything that has a type is one: each step is a pointer. */
static enum hi_status mark_typed(struct hi_inspection *in, uint64_t **ret,
				 struct hi_error *err)
{
	const struct hi_objects *o = in->graph->objects;
	uint64_t *bits = hi_calloc(((size_t)in->graph->n_nodes + 63) / 64 + 1, 8);

	if (!bits)
		return hi_fail_memory(err, "retainers");
	for (hi_node i = 0; i < o->count; i++)
		if (o->type[i] && !(o->flags[i] & HI_OBJECT_INTERNAL))
			bits[i >> 6] |= 1ull << (i & 63);
	*ret = bits;
	return HI_OK;
}

static enum hi_status find_retainers(struct hi_inspection *in, struct hi_retaining **own,
				     struct hi_retaining **ret, struct hi_error *err)
{
	uint64_t *bits = NULL;
	enum hi_status status;

	if (in->options->profile.n_retainers) {
		status = hi_retaining_compute(in, err);
		*ret = in->profile.retaining;
		return status;
	}
	status = mark_typed(in, &bits, err);
	if (status == HI_OK)
		status = hi_retaining_of(in, bits, own, err);
	*ret = *own;
	return status;
}

/* By which identity the objects of a type are known as retainers. */
static uint32_t *identities_of_types(struct hi_inspection *in,
				     const struct hi_retaining *r)
{
	uint32_t *of_type = hi_calloc(in->graph->n_types + 1u, sizeof(*of_type));

	for (hi_node i = 0; of_type && i < in->graph->n_objects; i++)
		if (r->identities[i] && in->graph->objects->type[i] < in->graph->n_types)
			of_type[in->graph->objects->type[i]] = r->identities[i];
	return of_type;
}

static enum hi_status run_up_command(struct hi_inspection *in,
				     const struct hi_report_header *header,
				     struct hi_page *page, struct hi_json *json,
				     struct hi_error *err)
{
	HI_GUARD(hi_retaining_destroy) struct hi_retaining *own = NULL;
	HI_GUARD(hi_up_report_destroy) struct hi_up_report *report = NULL;
	HI_GUARD(free) uint32_t *of_type = NULL;
	struct hi_retaining *r = NULL;
	struct hi_type_set set = {};
	struct hi_up_view view = {.pattern = in->options->selection.type,
				  .name = name_of_up_row};
	enum hi_status status =
		hi_lookup_types(in, in->options->selection.type, &set, err);

	hi_inspect_phase(in, "retainer sets");
	if (status == HI_OK)
		status = find_retainers(in, &own, &r, err);
	if (status == HI_OK && !(of_type = identities_of_types(in, r)))
		status = hi_fail_memory(err, "retainers");
	if (status == HI_OK) {
		view.types = set.has;
		view.of_type = of_type;
		view.arg = &r->names;
		view.top = hi_lookup_top(in->options, HI_UP_SETS);
		status = hi_up_report_create(header, in->graph, in->shown.reach, r->sets,
					     r->pool, &view, &report, err);
	}
	hi_type_set_free(&set);
	if (status != HI_OK)
		return status;
	if (json)
		hi_up_json(report, json);
	else
		hi_up_display(report, page);
	return HI_OK;
}

static int check_up(const struct hi_given *given)
{
	return given->options->selection.type
		       ? 0
		       : hi_option_wrong(
				 "up: --type is missing; see heapinspect up --help");
}

const struct hi_command hi_command_up = {
	.id = HI_COMMAND_UP,
	.name = "up",
	.arguments = "",
	.purpose = "Show the retainers of a type, step by step, up to the roots.",
	.help = "Without --retainer, every object that has a type is a retainer.\n"
		"\n"
		"Examples:\n"
		"  heapinspect up --type 'struct buffer' --pid 4242\n"
		"  heapinspect up --type '*sds*' --retainer auto --pid 4242",
	.wanted = 0,
	.run = run_up_command,
	.groups_by_retainers = true,
	.check = check_up,
	.page = HI_COMMAND_PAGE,
};
