/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Tables of tracemalloc]
 *
 * tracemalloc has a hash table from addresses to traces, in memory of malloc. The
 * variable that leads to it is static, and a stripped file has no symbol of it. But few
 * words look like that table: so all words in the interpreter's data are tried while
 * tracemalloc is on, which an exported variable tells. One is believed if its functions
 * are in the interpreter's code, its size is a power of two, and its first traces have
 * lines in files whose names are str.
 *
 * The process may stand in the middle of a change; with the lock of the interpreter, or
 * tracemalloc's own, an entry is complete before it is linked.
 */
#include "decode/runtimes/cpython_traces.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/runtimes/cpython.h"
#include "decode/runtimes/cpython_rows.h"
#include "decode/runtimes/cpython_walk_find.h"

enum {
	FIRST_MINOR = 9,
	LAST_MINOR = 13,
	RUNTIME_MINOR = 12, /* from here on its state is in _PyRuntime */
	OBJ_CONTEXT = 80,   /* of the third struct PyMemAllocatorEx: its ctx */
	CONFIG_TRACING = 4, /* struct _PyTraceMalloc_Config */
	TABLE_WORDS =
		6, /* _Py_hashtable_t: entries, buckets, where they are, functions */
	BUCKETS_LEAST = 16,
	BUCKETS_MOST = 1 << 27,
	BUCKETS_READ = 1 << 13,
	TRIED = 64, /* traces that decide whether a table is one */
	CHAIN_MOST = 1 << 16,
	DATA_MOST = 64 << 20, /* bytes of an interpreter's data */
	CHUNK = 1 << 16,
	TRACEBACK_FRAMES = 12, /* traceback_t: hash, nframe, total_nframe, frames */
	FRAME_SIZE = 12,       /* frame_t: file, line; packed */
	FILE_CHARS = 1000,
	STATE_KIND_SHIFT = 2,
	STATE_COMPACT = 1 << 5,
	STATE_ASCII = 1 << 6,
};

struct table_entry {
	uint64_t next, hash, key, value;
};

struct hi_python_traces {
	struct hi_py_reader reader;
	const struct hi_py_layout *layout;
	uint64_t str_type;
	struct hi_range text; /* of the interpreter */
	uint64_t buckets, n_buckets, n_entries;
	/* The place of the walk. */
	uint64_t bucket, entry, seen;
	unsigned in_chain;
	uint64_t loaded[BUCKETS_READ];
};

void hi_python_traces_close(struct hi_python_traces *traces)
{
	free(traces);
}

/* ---- the walk ---- */

static void begin_trace_walk(struct hi_python_traces *t)
{
	t->bucket = t->entry = t->seen = 0;
	t->in_chain = 0;
}

static uint64_t load_bucket(struct hi_python_traces *t, uint64_t i)
{
	uint64_t at = i % BUCKETS_READ, left = t->n_buckets - i;

	if (at == 0 &&
	    !hi_py_read(&t->reader, t->buckets + i * 8, t->loaded,
			(size_t)(left < BUCKETS_READ ? left : BUCKETS_READ) * 8))
		memset(t->loaded, 0, sizeof(t->loaded));
	return t->loaded[at];
}

/* The next entry; false: that was the last. */
static bool next_table_entry(struct hi_python_traces *t, struct table_entry *ret)
{
	while (t->seen < t->n_entries) {
		if (t->entry && ++t->in_chain < CHAIN_MOST &&
		    hi_py_read(&t->reader, t->entry, ret, sizeof(*ret))) {
			t->entry = ret->next;
			t->seen++;
			return true;
		}
		if (t->bucket == t->n_buckets)
			return false;
		t->entry = load_bucket(t, t->bucket++);
		t->in_chain = 0;
	}
	return false;
}

bool hi_python_traces_next(struct hi_python_traces *t, struct hi_python_trace *ret)
{
	struct table_entry entry;
	uint64_t trace[2]; /* size, traceback */

	while (next_table_entry(t, &entry)) {
		if (!hi_py_read(&t->reader, entry.value, trace, sizeof(trace)))
			continue;
		*ret = (struct hi_python_trace){
			.addr = entry.key, .size = trace[0], .traceback = trace[1]};
		return true;
	}
	return false;
}

unsigned hi_python_traces_lines(struct hi_python_traces *t, uint64_t traceback,
				struct hi_python_trace_line ret[HI_PYTHON_TRACE_FRAMES],
				bool *cut_ret)
{
	uint16_t counts[2] = {}; /* nframe, total_nframe */
	unsigned n;

	*cut_ret = true;
	if (!hi_py_read(&t->reader, traceback + 8, counts, sizeof(counts)))
		return 0;
	n = counts[0] < HI_PYTHON_TRACE_FRAMES ? counts[0] : HI_PYTHON_TRACE_FRAMES;
	*cut_ret = counts[1] > n;
	for (unsigned i = 0; i < n; i++) {
		uint8_t frame[FRAME_SIZE];

		if (!hi_py_read(&t->reader, traceback + TRACEBACK_FRAMES + i * FRAME_SIZE,
				frame, sizeof(frame))) {
			*cut_ret = true;
			return i;
		}
		memcpy(&ret[i].file, frame, sizeof(ret[i].file));
		memcpy(&ret[i].line, frame + sizeof(ret[i].file), sizeof(ret[i].line));
	}
	return n;
}

/* ---- names of files ---- */

static bool is_str(struct hi_python_traces *t, uint64_t addr)
{
	return addr && addr % 8 == 0 &&
	       hi_py_word(&t->reader, addr + HI_PY_TYPE) == t->str_type;
}

/* The place of its characters, of *kind_ret bytes each. */
static uint64_t find_characters(struct hi_python_traces *t, uint64_t addr,
				uint32_t *kind_ret)
{
	const struct hi_py_layout *l = t->layout;
	uint32_t state = hi_py_u32(&t->reader, addr + l->str_state);

	*kind_ret = state >> STATE_KIND_SHIFT & 7;
	if (!(state & STATE_COMPACT))
		return hi_py_word(&t->reader, addr + l->str_any);
	return addr + (state & STATE_ASCII ? l->str_ascii_data : l->str_compact_data);
}

void hi_python_traces_file(struct hi_python_traces *t, uint64_t file, char *out,
			   size_t size)
{
	uint8_t raw[FILE_CHARS * 4];
	uint64_t length, data;
	uint32_t kind;
	size_t n = 0;

	out[0] = '\0';
	if (!is_str(t, file))
		return;
	length = hi_py_word(&t->reader, file + t->layout->str_length);
	data = find_characters(t, file, &kind);
	length = length < FILE_CHARS ? length : FILE_CHARS;
	if ((kind != 1 && kind != 2 && kind != 4) ||
	    !hi_py_read(&t->reader, data, raw, (size_t)length * kind))
		return;
	for (uint64_t i = 0; i < length && n + 5 <= size; i++) {
		uint32_t ch = 0;

		memcpy(&ch, raw + i * kind, kind);
		n += hi_py_put_utf8(out + n, ch);
	}
	out[n] = '\0';
}

/* ---- finding the table ---- */

static bool is_interpreter_code(const struct hi_python_traces *t, uint64_t addr)
{
	return addr >= t->text.start && addr < t->text.end;
}

static bool is_trace(struct hi_python_traces *t, const struct hi_python_trace *trace)
{
	struct hi_python_trace_line lines[HI_PYTHON_TRACE_FRAMES];
	bool cut;

	return trace->addr && trace->size < 1ull << 47 &&
	       hi_python_traces_lines(t, trace->traceback, lines, &cut) > 0 &&
	       is_str(t, lines[0].file);
}

/* By its first traces: one that is none shows another table. */
static bool has_traces(struct hi_python_traces *t)
{
	struct hi_python_trace trace;
	bool is_good = true;
	unsigned n = 0;

	begin_trace_walk(t);
	while (n < TRIED && is_good && hi_python_traces_next(t, &trace)) {
		is_good = is_trace(t, &trace);
		n++;
	}
	begin_trace_walk(t);
	return is_good && n > 0;
}

static bool is_trace_table(struct hi_python_traces *t, uint64_t addr)
{
	uint64_t words[TABLE_WORDS];

	if (!addr || addr % 16 || !hi_py_read(&t->reader, addr, words, sizeof(words)))
		return false;
	for (int i = 3; i < TABLE_WORDS; i++)
		if (!is_interpreter_code(t, words[i]))
			return false;
	if (words[1] < BUCKETS_LEAST || words[1] > BUCKETS_MOST ||
	    words[1] & (words[1] - 1) || words[0] == 0 || words[0] > BUCKETS_MOST)
		return false;
	t->n_entries = words[0];
	t->n_buckets = words[1];
	t->buckets = words[2];
	return has_traces(t);
}

static bool find_trace_table_in(struct hi_python_traces *t, const struct hi_mapping *m)
{
	uint64_t words[CHUNK / 8];

	for (uint64_t at = m->start; at < m->end; at += CHUNK) {
		size_t size = m->end - at < CHUNK ? m->end - at : CHUNK;

		if (!hi_py_read(&t->reader, at, words, size))
			continue;
		for (size_t i = 0; i < size / 8; i++)
			if (words[i] - t->text.start >= t->text.end - t->text.start &&
			    is_trace_table(t, words[i]))
				return true;
	}
	return false;
}

static bool is_data_of(const struct hi_mapping *m, const struct hi_module *module)
{
	return m->prot & HI_PROT_WRITE && m->start >= module->start &&
	       m->end <= module->end && m->end - m->start <= DATA_MOST;
}

/* ---- opening ---- */

static bool may_trace(struct hi_python_traces *t, struct hi_modules *modules,
		      unsigned minor)
{
	uint64_t at;

	if (minor >= RUNTIME_MINOR) {
		at = hi_python_allocators(modules, minor);
		return at && hi_py_word(&t->reader, at + OBJ_CONTEXT) != 0;
	}
	return hi_modules_symbol(modules, NULL, "_Py_tracemalloc_config", &at, NULL,
				 NULL) == HI_OK &&
	       hi_py_u32(&t->reader, at + CONFIG_TRACING) == 1;
}

static bool is_tracing(struct hi_python_traces *t, struct hi_modules *modules)
{
	struct hi_python_walk walk;

	if (!hi_python_find(modules, &walk) || walk.minor < FIRST_MINOR ||
	    walk.minor > LAST_MINOR ||
	    hi_modules_symbol(modules, NULL, "PyUnicode_Type", &t->str_type, NULL,
			      NULL) != HI_OK)
		return false;
	t->layout = hi_py_layout_of_minor(walk.minor);
	return t->layout && may_trace(t, modules, walk.minor);
}

static bool find_trace_table(struct hi_python_traces *t, struct hi_modules *modules,
			     const struct hi_image *image)
{
	const struct hi_module *module = hi_python_module(modules);

	if (!module)
		return false;
	t->text = (struct hi_range){module->start, module->end};
	for (size_t i = 0; i < image->n_mappings; i++)
		if (is_data_of(&image->mappings[i], module) &&
		    find_trace_table_in(t, &image->mappings[i]))
			return true;
	return false;
}

enum hi_status hi_python_traces_open(struct hi_modules *modules,
				     const struct hi_image *image,
				     struct hi_python_traces **ret, struct hi_error *err)
{
	HI_GUARD(hi_python_traces_close)
	struct hi_python_traces *t = hi_calloc(1, sizeof(*t));

	if (!t)
		return hi_fail_memory(err, "traces of Python");
	t->reader = (struct hi_py_reader){.memory = image->memory, .modules = modules};
	if (!is_tracing(t, modules) || !find_trace_table(t, modules, image))
		return hi_fail(err, HI_NOT_FOUND, 0, "no tracemalloc that runs");
	*ret = hi_take(t);
	return HI_OK;
}
