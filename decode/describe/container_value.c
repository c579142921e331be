/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/container_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "decode/describe/member_display.h"

enum {
	MAX_WORDS = 64,		/* of a container that are looked at for pointers */
	SMALLEST_NODE = 16,	/* bytes: a pointer and a value */
	ELEMENTS_OF_BYTE = 512, /* of characters in 4 KiB that 8 bytes lead to: a deque */
};

static const struct hi_shown *shown_as_value(const struct hi_typing *typing,
					     hi_type_id type)
{
	const struct hi_rule_source *rules = &typing->source.types.rules;
	const struct hi_shown *shown =
		rules->shown ? rules->shown(rules->arg, type) : NULL;

	return shown && (shown->text || shown->count) ? shown : NULL;
}

bool hi_container_is_shown(const struct hi_typing *typing, hi_type_id type)
{
	return shown_as_value(typing, type) != NULL;
}

void hi_container_values_free(struct hi_container_values *values)
{
	free(values->bytes_of_type);
	values->bytes_of_type = NULL;
}

/* ---- where its pointers lead ---- */

static bool sum_bytes_of_types(struct hi_container_values *v)
{
	const struct hi_objects *o = v->graph->objects;

	if (v->bytes_of_type)
		return true;
	v->bytes_of_type = hi_calloc((size_t)v->graph->n_types + 1, sizeof(uint64_t));
	v->no_memory |= !v->bytes_of_type;
	for (hi_node i = 0; v->bytes_of_type && i < o->count; i++)
		if (o->type[i] < v->graph->n_types)
			v->bytes_of_type[o->type[i]] += hi_objects_usable(o, i);
	return v->bytes_of_type != NULL;
}

static bool is_pointer_at(const struct hi_typing *typing, hi_type_id type,
			  uint64_t offset)
{
	const struct hi_type_source *types = &typing->source.types;
	char text[8];
	struct hi_out ignored = {.text = text, .size = sizeof(text)};

	return hi_type_source_get(types, hi_path_to(types, type, offset, &ignored))
		       ->kind == HI_KIND_POINTER;
}

/* Sets `to` and grade of f. Returns the greatest sum of bytes of the objects of a type
 * that a pointer leads to. */
static uint64_t follow_pointers(struct hi_container_values *v, hi_node node,
				hi_type_id type, uint64_t address, struct hi_field *f)
{
	const struct hi_objects *o = v->graph->objects;
	uint64_t room = 0, word, offset;

	for (uint64_t at = 0; at + 8 <= f->size && at < MAX_WORDS * 8; at += 8) {
		hi_node to;

		if (!is_pointer_at(v->typing, type, at) ||
		    !hi_shown_read(v->typing, address + at, &word, sizeof(word)))
			continue;
		to = hi_objects_find(o, word, &offset);
		if (to == HI_NODE_NONE || to == node)
			continue;
		if (f->to == HI_NODE_NONE) {
			f->to = to;
			f->grade = offset ? HI_GRADE_INTERIOR : HI_GRADE_EXACT;
		}
		if (sum_bytes_of_types(v) && o->type[to] < v->graph->n_types &&
		    v->bytes_of_type[o->type[to]] > room)
			room = v->bytes_of_type[o->type[to]];
	}
	return room;
}

/* ---- counts ---- */

/* Do the bytes [first, last) lie in one object, or in memory that is there? */
static bool is_one_range(const struct hi_container_values *v, uint64_t first,
			 uint64_t last)
{
	const struct hi_objects *o = v->graph->objects;
	hi_node node;
	uint8_t byte;

	if (first >= last)
		return first == last;
	node = hi_objects_find(o, first, NULL);
	if (node != hi_objects_find(o, last - 1, NULL))
		return false;
	return node != HI_NODE_NONE || (hi_shown_read(v->typing, first, &byte, 1) &&
					hi_shown_read(v->typing, last - 1, &byte, 1));
}

enum count_belief { COUNT_UNKNOWN, COUNT_CLAIMED, COUNT_KNOWN };

/* room: bytes that the elements have place in, but for those of [first, last). */
static enum count_belief read_shown_count(const struct hi_container_values *v,
					  const struct hi_shown *shown,
					  const struct hi_code_input *in, uint64_t room,
					  uint64_t *count_ret)
{
	uint64_t first, last;

	if (v->no_memory || !hi_code_run(shown->count, in, count_ret) ||
	    *count_ret > INT64_MAX)
		return COUNT_UNKNOWN;
	if (!shown->first)
		return *count_ret <= room / SMALLEST_NODE ? COUNT_KNOWN : COUNT_CLAIMED;
	if (!hi_code_run(shown->first, in, &first) ||
	    !hi_code_run(shown->last, in, &last))
		return COUNT_UNKNOWN;
	/* An empty range has no elements: what it had may be gone. */
	return is_one_range(v, first, last) && (first != last || !*count_ret) &&
			       *count_ret / ELEMENTS_OF_BYTE <= last - first
		       ? COUNT_KNOWN
		       : COUNT_CLAIMED;
}

static bool read_for_count(void *arg, uint64_t addr, void *buf, size_t size)
{
	return hi_shown_read(arg, addr, buf, size);
}

static void put_count(struct hi_container_values *v, const struct hi_shown *shown,
		      uint64_t address, uint64_t room, struct hi_out *out)
{
	struct hi_code_input in = {
		.arg = v->typing, .read = read_for_count, .self = address};
	uint64_t count = 0;
	enum count_belief belief = read_shown_count(v, shown, &in, room, &count);
	char text[32];

	if (belief == COUNT_UNKNOWN)
		hi_out_add(out, "?");
	else
		hi_out_add(out, "%s%s element%s", belief == COUNT_KNOWN ? "" : "claims ",
			   hi_text_count(text, count), count == 1 ? "" : "s");
}

void hi_container_show(struct hi_container_values *v, hi_node node, hi_type_id type,
		       uint64_t address, struct hi_field *f)
{
	const struct hi_shown *shown = shown_as_value(v->typing, type);
	struct hi_out out = {.text = f->value, .size = sizeof(f->value)};
	uint64_t room = follow_pointers(v, node, type, address, f);

	f->value[0] = 0;
	if (shown && shown->count)
		put_count(v, shown, address, room, &out);
	else if (!hi_shown_text_put(v->typing, type, address, &out))
		snprintf(f->value, sizeof(f->value), "?");
}
