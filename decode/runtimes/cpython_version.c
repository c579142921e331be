/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The version: Py_Version, which is exported from 3.11 on. Older ones have it only as
 * sys.hexversion and sys.version: each known layout is tried, and the right one is that
 * by which one of them can be read and is the same version.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/runtimes/cpython.h"

enum {
	KNOWN_LEN = 64,
	MAX_SYS = 4096,	    /* names in sys */
	COOKIE_MINOR = 13,  /* from here on _PyRuntime begins with its offsets: */
	FREE_THREADED = 16, /* xdebugpy, version, free_threaded */
};

static const char *known_versions(char *out, size_t size)
{
	unsigned low = UINT32_MAX, high = 0;

	for (size_t i = 0; hi_py_layouts[i]; i++) {
		low = hi_py_layouts[i]->minor < low ? hi_py_layouts[i]->minor : low;
		high = hi_py_layouts[i]->minor > high ? hi_py_layouts[i]->minor : high;
	}
	snprintf(out, size, "3.%u to 3.%u are", low, high);
	return out;
}

static void format_version(struct hi_py *py, uint32_t version)
{
	snprintf(py->base.version, sizeof(py->base.version), "%u.%u.%u", version >> 24,
		 version >> 16 & 255, version >> 8 & 255);
}

/* ---- 3.11 and later ---- */

/* A build without the lock of the interpreter is another program. */
static enum hi_status refuse_free_threaded(struct hi_py *py, struct hi_error *err)
{
	uint64_t header[5];

	if (!hi_py_read(&py->reader, py->runtime, header, sizeof(header)) ||
	    memcmp(header, "xdebugpy", 8) != 0)
		return hi_fail(err, HI_BAD_DATA, py->runtime,
			       "CPython %s: _PyRuntime has no table of offsets",
			       py->base.version);
	if (header[FREE_THREADED / 8])
		return hi_fail(err, HI_UNSUPPORTED, py->runtime,
			       "CPython %s is free-threaded: its objects have another "
			       "layout and are not decoded",
			       py->base.version);
	return HI_OK;
}

static enum hi_status find_by_number(struct hi_py *py, uint32_t version,
				     struct hi_error *err)
{
	char known[KNOWN_LEN];

	format_version(py, version);
	for (size_t i = 0; hi_py_layouts[i]; i++)
		if (version >> 24 == 3 &&
		    (version >> 16 & 255) == hi_py_layouts[i]->minor)
			py->layout = hi_py_layouts[i];
	if (!py->layout)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "CPython %s: its layout is not known (%s)",
			       py->base.version, known_versions(known, sizeof(known)));
	return py->layout->minor >= COOKIE_MINOR ? refuse_free_threaded(py, err) : HI_OK;
}

/* ---- older ones ---- */

struct version_of_sys {
	struct hi_runtime_cursor *c;
	uint32_t hexversion, version; /* by the two names; 0: not there */
};

/* "3.9.18 (main, …" */
static uint32_t parse_version(const char *text)
{
	unsigned major, minor, micro;

	return sscanf(text, "%3u.%3u.%3u", &major, &minor, &micro) == 3
		       ? (major & 255) << 24 | (minor & 255) << 16 | (micro & 255) << 8
		       : 0;
}

static bool look_at_name(void *arg, uint64_t key, uint64_t value)
{
	struct version_of_sys *v = arg;
	struct hi_py_object o;
	int64_t number;
	char text[32];

	if (!hi_py_str(v->c, key, text, sizeof(text)))
		return true;
	if (strcmp(text, "hexversion") == 0 && hi_py_object_at(v->c, value, &o) &&
	    hi_py_int(v->c, &o, &number))
		v->hexversion = (uint32_t)number;
	if (strcmp(text, "version") == 0 && hi_py_str(v->c, value, text, sizeof(text)))
		v->version = parse_version(text);
	return !v->hexversion || !v->version;
}

/* sys.hexversion, read by this layout; or sys.version where that one is damaged. 0: none
 * can be read. */
static uint32_t read_sys_version(struct hi_py *py, struct hi_runtime_cursor *c)
{
	const struct hi_py_layout *l = py->layout;
	struct version_of_sys v = {.c = c};
	uint64_t interp;

	interp = hi_py_word(&py->reader, py->runtime + l->runtime_interpreters_head);
	if (interp % 8)
		return 0;
	for (int i = 0; i < HI_PY_MAX_INTERPRETERS && interp && !v.hexversion; i++) {
		hi_py_dict_items(c, hi_py_word(&c->reader, interp + l->interp_sysdict),
				 MAX_SYS, look_at_name, &v);
		interp = hi_py_word(&py->reader, interp + l->interp_next);
	}
	return v.hexversion ? v.hexversion : v.version;
}

/* Forgets types that were read by a wrong layout. */
static void forget_types(struct hi_py *py)
{
	hi_table_free(&py->by_addr);
	py->by_addr = (struct hi_table){};
	py->all.count = 0;
}

bool hi_py_has_interpreter(struct hi_py *py, const struct hi_py_layout *layout)
{
	uint64_t head = 0, main = 0;

	return !hi_py_u64(&py->reader, py->runtime + layout->runtime_interpreters_head,
			  &head) ||
	       !hi_py_u64(&py->reader, py->runtime + layout->runtime_interpreters_main,
			  &main) ||
	       head || main;
}

static enum hi_status find_by_trial(struct hi_py *py, struct hi_error *err)
{
	char known[KNOWN_LEN];
	bool has_interpreter = false;

	for (size_t i = 0; hi_py_layouts[i]; i++) {
		struct hi_runtime_cursor *c;
		uint32_t version;

		if (hi_py_layouts[i]->thread_native_id)
			continue; /* has Py_Version */
		py->layout = hi_py_layouts[i];
		has_interpreter |= hi_py_has_interpreter(py, py->layout);
		c = hi_runtime_cursor(&py->base);
		if (!c)
			return hi_fail_memory(err, "runtime");
		version = read_sys_version(py, c);
		hi_runtime_cursor_free(&py->base, c);
		if (version >> 24 == 3 && (version >> 16 & 255) == py->layout->minor) {
			format_version(py, version);
			return HI_OK;
		}
		forget_types(py);
	}
	if (!has_interpreter)
		return hi_fail(err, HI_NOT_FOUND, py->runtime,
			       "CPython in %s was never initialised in this process",
			       py->module->name);
	return hi_fail(err, HI_UNSUPPORTED, py->runtime,
		       "CPython in %s has no readable version: it is older than the "
		       "supported ones (%s), or is starting or finalising",
		       py->module->name, known_versions(known, sizeof(known)));
}

enum hi_status hi_py_find_layout(struct hi_py *py, struct hi_error *err)
{
	uint64_t addr, size, version = 0;

	if (hi_modules_symbol(py->modules, py->module, "Py_Version", &addr, &size,
			      NULL) != HI_OK)
		return find_by_trial(py, err);
	if (hi_modules_read(py->modules, addr, &version, sizeof(version), err) != HI_OK)
		return hi_fail(err, HI_BAD_DATA, addr,
			       "CPython: Py_Version is unreadable");
	return find_by_number(py, (uint32_t)version, err);
}
