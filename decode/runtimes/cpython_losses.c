/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Known losses]
 *
 * Some libraries take a reference once, when they are imported, and nothing has it: it
 * never grows. In a program with SciPy there are a thousand of them, among which one that
 * matters is not seen.
 *
 *   Cython makes its constants in static variables, which a compiler leaves out where
 *   only their making uses them: code objects without instructions, tuples of constants
 *   whose texts are in variables of the module still. It asks a class for a special
 *   method, whose description it replaces by one of its own, and keeps the reference.
 *   f2py keeps one of the name of each function, and of texts of its modules.
 *   sip counts the class of signals for each bound one, also when that one is freed.
 */
#include <string.h>

#include "base/bits.h"
#include "decode/runtimes/cpython.h"

enum {
	MAX_ITEMS = 1 << 16, /* of a tuple */
	CO_CODE = 48,	     /* up to 3.10 */
	DESCRIPTOR_BASE = 40,
	ONCE = 1,
};

static bool has_type_called(const struct hi_runtime_losses *l, hi_node node,
			    const char *name)
{
	return node < l->graph->n_objects &&
	       strcmp(l->graph->types[l->graph->objects->type[node]].name, name) == 0;
}

/* ---- f2py ---- */

static bool leads_to_one_called(const struct hi_runtime_losses *l, hi_node from,
				const char *name)
{
	struct hi_edges e = hi_graph_edges(l->graph, from);

	for (uint32_t i = 0; i < e.count; i++)
		if (has_type_called(l, e.to[i], name))
			return true;
	return false;
}

static void mark_texts(const struct hi_runtime_losses *l, hi_node dict)
{
	struct hi_edges e = hi_graph_edges(l->graph, dict);

	for (uint32_t i = 0; i < e.count; i++)
		if (has_type_called(l, e.to[i], "str"))
			hi_bit_set(l->marks, e.to[i]);
}

/* Texts in dicts of its functions, and of modules that have such functions. That of the
 * super-root: there are some. */
void hi_py_mark_losses(struct hi_runtime_cursor *c,
		       const struct hi_runtime_losses *losses)
{
	(void)c;
	for (hi_node i = 0; i < losses->graph->n_objects; i++) {
		struct hi_edges e = {};

		if (has_type_called(losses, i, "dict") &&
		    leads_to_one_called(losses, i, "fortran"))
			mark_texts(losses, i);
		if (has_type_called(losses, i, "fortran")) {
			e = hi_graph_edges(losses->graph, i);
			hi_bit_set(losses->marks, losses->graph->super_root);
		}
		for (uint32_t k = 0; k < e.count; k++)
			if (has_type_called(losses, e.to[k], "dict"))
				mark_texts(losses, e.to[k]);
	}
}

/* Or the name of a function that the module has put another one in the place of. */
static bool is_of_f2py(struct hi_runtime_cursor *c, const struct hi_runtime_losses *l,
		       hi_node node, const struct hi_py_object *o)
{
	static const char prefix[] = "function ";
	char text[32];

	if (hi_bit(l->marks, node))
		return true;
	return hi_bit(l->marks, l->graph->super_root) && o->type->exact &&
	       o->type->family == HI_PY_STR &&
	       hi_py_str(c, o->addr, text, sizeof(text)) &&
	       strncmp(text, prefix, sizeof(prefix) - 1) == 0;
}

/* ---- Cython ---- */

static bool has_no_instructions(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	struct hi_py_object code;

	if (c->py->layout->code_instructions)
		return o->size == 0;
	return hi_py_object_at(c, hi_py_word(&c->reader, o->addr + CO_CODE), &code) &&
	       code.size == 0;
}

/* A text that a variable of a module has, a number, or what is made of constants. */
static bool is_constant(struct hi_runtime_cursor *c, const struct hi_runtime_losses *l,
			uint64_t addr)
{
	hi_node node = hi_objects_find(l->graph->objects, addr, NULL);
	struct hi_py_object o;

	if (node == HI_NODE_NONE)
		return hi_py_object_at(c, addr, &o); /* None, small numbers */
	if (!hi_py_object_at(c, addr, &o) || !o.type->exact)
		return false;
	switch (o.type->family) {
	case HI_PY_STR:
		return hi_bit(l->in_data, node);
	case HI_PY_INT:
	case HI_PY_BYTES:
	case HI_PY_TUPLE:
	case HI_PY_CODE:
		return true;
	default:
		return has_type_called(l, node, "float") ||
		       has_type_called(l, node, "slice");
	}
}

static bool is_tuple_of_constants(struct hi_runtime_cursor *c,
				  const struct hi_runtime_losses *l,
				  const struct hi_py_object *o)
{
	uint64_t items = o->addr + c->py->layout->tuple_items, item;

	if (!o->type->exact || o->size < 1 || o->size > MAX_ITEMS)
		return false;
	for (int64_t i = 0; i < o->size; i++)
		if (!hi_py_u64(&c->reader, items + (uint64_t)i * HI_PY_PTR, &item) ||
		    !is_constant(c, l, item))
			return false;
	return true;
}

/* Else the interpreter's own table has it. */
static bool is_described_elsewhere(struct hi_runtime_cursor *c,
				   const struct hi_py_object *o)
{
	struct hi_module *module = hi_modules_at(
		c->py->modules, hi_py_word(&c->reader, o->addr + DESCRIPTOR_BASE));

	return module && module != c->py->module;
}

static bool is_of_cython(struct hi_runtime_cursor *c, const struct hi_runtime_losses *l,
			 hi_node node, const struct hi_py_object *o)
{
	if (o->type->family == HI_PY_CODE)
		return has_no_instructions(c, o);
	if (o->type->family == HI_PY_TUPLE)
		return is_tuple_of_constants(c, l, o);
	return has_type_called(l, node, "wrapper_descriptor") &&
	       is_described_elsewhere(c, o);
}

/* ---- all ---- */

static bool is_class_of_signals(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	static const char suffix[] = ".pyqtBoundSignal";
	const struct hi_py_type *t = NULL;
	const char *name;

	if (o->type->family == HI_PY_TYPE_OBJECT)
		t = hi_py_type_at(c, o->addr);
	if (!t)
		return false;
	name = c->py->types.items[t->type].name;
	return strlen(name) >= strlen(suffix) &&
	       strcmp(name + strlen(name) - strlen(suffix), suffix) == 0;
}

enum hi_known_loss hi_py_known_loss(struct hi_runtime_cursor *c,
				    const struct hi_runtime_losses *losses, hi_node node,
				    uint32_t type, uint64_t excess)
{
	const struct hi_objects *objects = losses->graph->objects;
	struct hi_py_object o;

	if (type < HI_PY_BUFFERS ||
	    !hi_py_object_in(c, hi_objects_address(objects, node),
			     hi_objects_usable(objects, node), &o))
		return HI_LOSS_UNKNOWN;
	if (is_class_of_signals(c, &o))
		return HI_LOSS_SIP;
	if (excess != ONCE)
		return HI_LOSS_UNKNOWN;
	if (is_of_cython(c, losses, node, &o))
		return HI_LOSS_CYTHON;
	return is_of_f2py(c, losses, node, &o) ? HI_LOSS_F2PY : HI_LOSS_UNKNOWN;
}
