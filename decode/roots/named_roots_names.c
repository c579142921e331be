/* SPDX-License-Identifier: BSD-2-Clause */
/* Names in the expressions of roots: those of a thread first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "decode/roots/named_roots_internal.h"

static const uint32_t any_frame = UINT32_MAX;

/* ---- names in a thread ---- */

static struct hi_name name_of_local(struct hi_root_compiling *c,
				    const struct hi_local *local)
{
	struct hi_named_roots_private *p = c->p;
	struct hi_name name = {HI_NAME_VARIABLE, local->address, local->type};

	if (local->in_memory)
		return name;
	name.value = HI_LOCAL_BASE + p->values.count * HI_LOCAL_STRIDE;
	if (!hi_vector_push(&p->values, *local))
		c->no_memory = true;
	return name;
}

/* Of variables with one name the last one: that of the innermost block. */
static const struct hi_local *find_local(const struct hi_stack *stack, uint32_t frame,
					 const char *name)
{
	const struct hi_local *found = NULL;

	for (size_t i = 0; i < stack->n_locals; i++) {
		const struct hi_local *l = &stack->locals[i];

		if ((frame != any_frame && l->frame != frame) || !l->name ||
		    strcmp(l->name, name) != 0)
			continue;
		if (found && found->frame != l->frame)
			break;
		found = l;
	}
	return found;
}

struct tls_search {
	const char *name;
	struct hi_variable found;
	uint64_t offset;
	bool is_found;
};

static bool look_at_tls(const struct hi_variable *var, uint64_t tls_offset, void *arg)
{
	struct tls_search *search = arg;

	if (!var->name || strcmp(var->name, search->name) != 0)
		return true;
	search->found = *var;
	search->offset = tls_offset;
	search->is_found = true;
	return false;
}

/* The instance of the thread that is meant; of the first one where none is. */
static struct hi_name find_tls(const struct hi_root_compiling *c, const char *name)
{
	const struct hi_named_roots_private *p = c->p;
	struct tls_search search = {.name = name};
	size_t n = p->image->n_threads ? hi_modules_count(p->modules) : 0;

	for (size_t i = 0; i < n; i++) {
		struct hi_module *module = hi_modules_get(p->modules, i);
		uint64_t start, size;

		if (hi_tls_block(p->modules, p->image, module, c->thread, &start, &size,
				 NULL) == HI_OK &&
		    hi_types_tls_variables(p->types, module, look_at_tls, &search,
					   NULL) == HI_OK &&
		    search.is_found && search.offset < size)
			return (struct hi_name){HI_NAME_VARIABLE, start + search.offset,
						search.found.type};
	}
	return (struct hi_name){};
}

static struct hi_name look_up_root_name(void *arg, const char *name)
{
	struct hi_root_compiling *c = arg;
	const struct hi_named_roots_private *p = c->p;
	const struct hi_local *local = NULL;
	struct hi_name found;

	if (c->in_thread)
		local = find_local(p->stacks[c->thread], c->frame, name);
	if (local)
		return name_of_local(c, local);
	found = p->source.name(p->source.arg, name);
	return found.kind == HI_NAME_NONE ? find_tls(c, name) : found;
}

static const struct hi_type *root_type_by_id(void *arg, hi_type_id id)
{
	const struct hi_named_roots_private *p = ((struct hi_root_compiling *)arg)->p;

	return p->source.type(p->source.arg, id);
}

static hi_type_id type_named(void *arg, const char *name)
{
	const struct hi_named_roots_private *p = ((struct hi_root_compiling *)arg)->p;

	return p->source.type_named(p->source.arg, name);
}

static hi_type_id pointer_to(void *arg, hi_type_id id)
{
	const struct hi_named_roots_private *p = ((struct hi_root_compiling *)arg)->p;

	return p->source.pointer_to(p->source.arg, id);
}

/* ---- "thread:3/frame:2/" ---- */

/* "WORD:N/" at *at, which is then behind it. *found_ret: there is one. */
static enum hi_status take_part(struct hi_root_compiling *c, const char *word, size_t *at,
				uint64_t *n_ret, bool *found_ret, struct hi_error *err)
{
	size_t n = strlen(word), digits;

	*found_ret = strncmp(c->text + *at, word, n) == 0 && c->text[*at + n] == ':' &&
		     c->text[*at + n + 1] != ':';
	if (!*found_ret)
		return HI_OK;
	c->column = *at + n + 1;
	digits = strspn(c->text + c->column, "0123456789");
	if (digits == 0 || digits > 9)
		return hi_fail(err, HI_USAGE, 0, "the number of a %s is missing", word);
	*n_ret = strtoull(c->text + c->column, NULL, 10);
	if (c->text[c->column + digits] != '/') {
		c->column += digits;
		return hi_fail(err, HI_USAGE, 0,
			       "expected '/' and the name of a variable");
	}
	*at = c->column + digits + 1;
	return HI_OK;
}

static enum hi_status find_thread(struct hi_root_compiling *c, uint64_t tid,
				  struct hi_error *err)
{
	const struct hi_image *image = c->p->image;

	for (size_t i = 0; i < image->n_threads; i++)
		if ((uint64_t)image->threads[i].tid == tid) {
			c->thread = (uint32_t)i;
			return HI_OK;
		}
	if (tid >= 1 && tid <= image->n_threads) {
		c->thread = (uint32_t)tid - 1;
		return HI_OK;
	}
	return hi_fail(
		err, HI_USAGE, 0, "there is no such thread: %zu threads, the first is %d",
		image->n_threads, image->n_threads ? (int)image->threads[0].tid : 0);
}

static enum hi_status read_stack(struct hi_root_compiling *c, struct hi_error *err)
{
	struct hi_named_roots_private *p = c->p;

	if (p->stacks[c->thread])
		return HI_OK;
	return hi_stack_read(p->types, p->image, c->thread, &p->stacks[c->thread], err);
}

static size_t frames_of(const struct hi_root_compiling *c)
{
	return c->p->stacks[c->thread]->n_frames;
}

enum hi_status hi_root_prefix(struct hi_root_compiling *c, size_t *at,
			      struct hi_error *err)
{
	uint64_t n = 0;
	bool found = false;
	enum hi_status status = take_part(c, "thread", at, &n, &found, err);

	if (status != HI_OK || !found)
		return status;
	c->in_thread = true;
	c->frame = any_frame;
	status = find_thread(c, n, err);
	if (status == HI_OK)
		status = read_stack(c, err);
	if (status == HI_OK)
		status = take_part(c, "frame", at, &n, &found, err);
	if (status != HI_OK || !found)
		return status;
	if (n >= frames_of(c))
		return hi_fail(err, HI_USAGE, 0,
			       "there is no such frame: the thread has %zu, 0 is the "
			       "innermost",
			       frames_of(c));
	c->frame = (uint32_t)n;
	return HI_OK;
}

static void each_root_variable(void *arg, bool (*fn)(void *fn_arg, const char *name),
			       void *fn_arg)
{
	const struct hi_root_compiling *c = arg;

	hi_types_each_variable_name(c->p->types, fn, fn_arg);
}

struct hi_expression_source hi_root_source(struct hi_root_compiling *c)
{
	return (struct hi_expression_source){.arg = c,
					     .type = root_type_by_id,
					     .type_named = type_named,
					     .pointer_to = pointer_to,
					     .name = look_up_root_name,
					     .each_name = each_root_variable};
}

/* ---- what there is instead ---- */

enum { LISTED = 5 };

void hi_root_list_locals(const struct hi_root_compiling *c, char *out, size_t size)
{
	const struct hi_stack *stack = c->in_thread ? c->p->stacks[c->thread] : NULL;
	const struct hi_frame *frame;
	char name[80];
	unsigned n = 0;
	size_t used;

	out[0] = '\0';
	if (!stack || c->frame == any_frame || size < 2)
		return;
	frame = &stack->frames[c->frame];
	hi_text_escape(name, sizeof(name), frame->function ? frame->function : "?",
		       frame->function ? strlen(frame->function) : 1);
	used = (size_t)snprintf(out, size, "; frame %u is %s", c->frame, name);
	for (size_t i = 0; i < stack->n_locals && n < LISTED && used < size; i++) {
		const struct hi_local *l = &stack->locals[i];

		if (l->frame != c->frame || !l->name)
			continue;
		hi_text_escape(name, 40, l->name, strlen(l->name));
		used += (size_t)snprintf(out + used, size - used, "%s %s",
					 n++ ? "," : " with", name);
	}
}
