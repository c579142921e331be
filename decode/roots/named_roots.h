/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Named roots: NAME=EXPR, where EXPR is a C expression over the variables of the program
 * (expressions/expression.h), evaluated on an image:
 *
 *	a pointer        the object that it leads to, also to its inside; where it leads
 *	                 to a variable, the objects that the variable refers to
 *	a record, array  the object that it lies in; of a variable: all objects that its
 *	                 words refer to, by its type, containers and hints
 *	a number         0x7f…: as a pointer
 *
 *	thread:TID/name, thread:TID/frame:K/name->next
 *
 * looks names up among the variables of a thread's frames first: of all frames, the
 * innermost first, or of frame K (0 is the innermost). Thread-local variables are then
 * those of that thread, else those of the first thread. TID is the kernel's number or, if
 * no thread has it, the position from 1.
 *
 * A root that is null or unreadable has no objects and a warning.
 */
#ifndef HI_DECODE_ROOTS_NAMED_ROOTS_H
#define HI_DECODE_ROOTS_NAMED_ROOTS_H

#include "decode/inference/typing.h"

/* A named root as text. Borrowed; outlives the roots. */
struct hi_root_text {
	const char *name, *expression;
	bool or_path; /* may be the text of a path, which has elements of containers */
};

struct hi_named_root {
	struct hi_root_text text;
	const char *type; /* of the expression: "struct dict *"; "" unknown; hostile */
	uint64_t address; /* the pointer's value, or where the record lies; 0 unknown */
	hi_node *starts;  /* increasing, no two equal */
	size_t n_starts;
	const char *
		warning; /* why there are no starts: "it is null"; NULL: there are some */
	bool is_path;	 /* it is no expression (warning: why); only of text.or_path */
};

struct hi_named_roots {
	struct hi_named_root *items;
	size_t count;
	struct hi_named_roots_private *priv;
};

/* Returns the name of the root with this number, from 1; "?": there is none. roots: a
 * struct hi_named_roots; the form of a hi_set_name_fn. */
const char *hi_named_roots_name(void *roots, uint32_t number);

/*
 * Splits "NAME=EXPR" at the first "=". A name has no blanks, control bytes or commas, and
 * is not NOROOT, LEAK, MANY or SYSTEM. False: it is wrong; *why_ret (static, never NULL)
 * is the reason.
 */
bool hi_root_text_split(const char *text, size_t *name_length_ret, const char **why_ret);

/*
 * Compiles all expressions against the types of the image. Borrows everything; *ret:
 * hi_named_roots_close(). HI_USAGE: expression number *wrong_ret is wrong at its byte
 * *column_ret, and err is the reason.
 */
enum hi_status hi_named_roots_open(const struct hi_image *image,
				   struct hi_modules *modules,
				   struct hi_types *types /* NULL: none */,
				   const struct hi_root_text *texts, size_t n,
				   struct hi_named_roots **ret, size_t *wrong_ret,
				   size_t *column_ret, struct hi_error *err);
/* Evaluates them: fills in starts, address and warning. To be called once. */
enum hi_status hi_named_roots_find(struct hi_named_roots *roots, struct hi_typing *typing,
				   const struct hi_graph *graph, struct hi_error *err);
void hi_named_roots_close(struct hi_named_roots *roots); /* NULL is allowed */

#endif
