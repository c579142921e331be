/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about one object for reports: its id(), its count, its name or its value. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode/runtimes/cpython.h"

enum { FLOAT_VALUE = 16, MAX_NAME = 160 };

/* Families of objects that have a name, in a field. */
static const char *const named_by[] = {"__qualname__", "co_qualname", "__name__",
				       "co_name",      "md_name",     "var_name",
				       "prop_name",    "d_qualname"};

static uint64_t field_of(struct hi_runtime_cursor *c, const struct hi_py_object *o,
			 const char *name)
{
	for (uint32_t i = 0; i < o->type->n_fields; i++) {
		const struct hi_py_field *f = &o->type->fields[i];

		if (f->name && strcmp(f->name, name) == 0)
			return hi_py_word(&c->reader, o->addr + f->offset);
	}
	return 0;
}

/* "module.qualname". */
static void name_object(struct hi_runtime_cursor *c, const struct hi_py_object *o,
			char *out, size_t size)
{
	char module[MAX_NAME] = "", name[MAX_NAME] = "";

	for (size_t i = 0; i < sizeof(named_by) / sizeof(named_by[0]) && !*name; i++) {
		uint64_t text = field_of(c, o, named_by[i]);

		if (text && !hi_py_str(c, text, name, sizeof(name)))
			name[0] = 0;
	}
	if (*name && !hi_py_str(c, field_of(c, o, "__module__"), module, sizeof(module)))
		module[0] = 0;
	snprintf(out, size, "%s%s%s", module, *module ? "." : "", name);
}

/* Its instances have that name. */
static void name_class(struct hi_runtime_cursor *c, const struct hi_py_object *o,
		       char *out, size_t size)
{
	const struct hi_py_type *t = hi_py_type_at(c, o->addr);

	if (t)
		snprintf(out, size, "%s", c->py->types.items[t->type].name);
}

static void format_object_value(struct hi_runtime_cursor *c, const struct hi_py_object *o,
				char *out, size_t size)
{
	const struct hi_py_layout *l = c->py->layout;
	double value;

	switch (o->type->family) {
	case HI_PY_STR:
	case HI_PY_INT:
		hi_py_repr(c, o->addr, out, size);
		return;
	case HI_PY_BYTES:
	case HI_PY_TUPLE:
	case HI_PY_LIST:
		snprintf(out, size, "%" PRId64 " %s",
			 (int64_t)hi_py_word(&c->reader, o->addr + HI_PY_SIZE),
			 o->type->family == HI_PY_BYTES ? "bytes" : "items");
		return;
	case HI_PY_DICT:
	case HI_PY_ODICT:
		snprintf(out, size, "%" PRIu64 " items",
			 hi_py_word(&c->reader, o->addr + l->dict_used));
		return;
	case HI_PY_NDARRAY:
		hi_py_ndarray_text(c, o, out, size);
		return;
	default:
		break;
	}
	if (o->type->exact &&
	    strcmp(c->py->types.items[o->type->type].name, "float") == 0 &&
	    hi_py_read(&c->reader, o->addr + FLOAT_VALUE, &value, sizeof(value)))
		snprintf(out, size, "%.17g", value);
}

bool hi_py_facts(struct hi_runtime_cursor *c, uint64_t addr, uint64_t size, uint32_t type,
		 struct hi_runtime_facts *ret)
{
	struct hi_py_object o;

	if (type < HI_PY_BUFFERS || !hi_py_object_in(c, addr, size, &o) || !o.refcnt)
		return false;
	*ret = (struct hi_runtime_facts){.address = o.addr};
	ret->counts = hi_py_counted(c, addr, size, type, &ret->counted);
	if (o.type->family == HI_PY_TYPE_OBJECT)
		name_class(c, &o, ret->name, sizeof(ret->name));
	else if (o.type->exact)
		name_object(c, &o, ret->name, sizeof(ret->name));
	if (!c->py->base.redact)
		format_object_value(c, &o, ret->value, sizeof(ret->value));
	return true;
}
