/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of CPython made by hand, for tests and fuzz/cpython.c: types, and one object
 * of every kind that has a reader of its own, with its tables. All that is no block, and
 * the items of a tuple next to each block, refer to a `victim`, which nothing else refers
 * to: an exact edge there was read out of another object's words.
 */
#ifndef HI_TESTS_SUPPORT_MOCK_PYTHON_H
#define HI_TESTS_SUPPORT_MOCK_PYTHON_H

#include "decode/runtimes/cpython.h"

enum {
	MOCK_PYTHON_BLOCKS = 256,
	MOCK_PYTHON_TYPES = 64,
	MOCK_PYTHON_LISTS = 32,
	MOCK_PYTHON_TABLE = 16 << 10, /* bytes */
};

struct mock_python {
	struct hi_memory memory; /* first: it is one */
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_py *py; /* made again by mock_python_open() */
	struct hi_objects *objects;
	const struct hi_py_layout *layout;
	struct mock_python_segment {
		uint64_t start, size;
		uint8_t *bytes, *saved;
	} segments[3];
	struct mock_python_block {
		uint64_t addr, size;
		uint32_t type; /* as the runtime says; 0: it says nothing */
	} blocks[MOCK_PYTHON_BLOCKS];
	size_t n_blocks;
	struct mock_python_type {
		const char *name;
		uint64_t addr;
	} types[MOCK_PYTHON_TYPES];
	size_t n_types;
	uint64_t heap_next, types_next; /* where the next one comes */
	uint64_t victim, other;		/* an object; items of a tuple of victims */
	uint64_t frame, thread;		/* of the only thread, in its stack; its state */
	uint64_t interpreter;		/* 0: none */
	uint64_t lists, table;		/* lists without items, and a table for them */
	/* Counted by all that reads: */
	uint64_t n_reads, n_edges, n_exact_to_victim;
	bool has_views;	  /* memory is read in place: not counted */
	bool with_labels; /* labels of edges and facts of objects are asked for, too */
};

/* With the sample; by the layout of one version. */
struct mock_python *mock_python_create(const struct hi_py_layout *layout);
void mock_python_destroy(struct mock_python *m);
uint64_t mock_python_get(struct mock_python *m, uint64_t addr);
void mock_python_set(struct mock_python *m, uint64_t addr, uint64_t word);
/* All empty lists get the one table, and its length. */
void mock_python_share_table(struct mock_python *m);
/* The bytes as they were made. */
void mock_python_restore(struct mock_python *m);
/* Types of all blocks, edges of all, the frames of the thread; counts anew. */
void mock_python_read(struct mock_python *m);
/* Of which type the block at addr was made; NULL: there is none. */
struct mock_python_block *mock_python_block_at(struct mock_python *m, uint64_t addr);

#endif
