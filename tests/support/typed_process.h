/* SPDX-License-Identifier: BSD-2-Clause */
/* A live fixture, frozen, walked, typed and linked. Freed when the test ends. */
#ifndef HI_TESTS_SUPPORT_TYPED_PROCESS_H
#define HI_TESTS_SUPPORT_TYPED_PROCESS_H

#include "decode/rules/rulebook.h"
#include "decode/describe/object_text.h"
#include "decode/inference/typing.h"
#include "decode/run/typing_run.h"

struct typed_process {
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_types *types;
	struct hi_rulebook *rulebook; /* containers, and the hints that were given */
	struct hi_allocator *allocator;
	struct hi_runtime *runtime; /* NULL: none */
	struct hi_typing *typing;
	struct hi_graph *graph;
};

/* Fails the test if any step does. The process runs on. */
struct typed_process *typed_process_open(pid_t pid,
					 const struct hi_typing_options *options);
/* The same with a text of hints before the containers; NULL: none. */
struct typed_process *typed_process_open_with(pid_t pid,
					      const struct hi_typing_options *options,
					      const char *hints_file);
/* By no debug files but what is in the mapped ones themselves. */
struct typed_process *typed_process_open_without_debug(pid_t pid);
/* The same of a core file. */
struct typed_process *typed_process_open_core(const char *path);
/* Types and links the same image again; the old graph is gone. */
void typed_process_again(struct typed_process *p,
			 const struct hi_typing_options *options);
/* Node of the object that starts at addr; fails the test if there is none. */
hi_node typed_process_node(const struct typed_process *p, uint64_t addr);
/* Its type's name, with "[]" for an array of elements; "" unknown, or
 * only named by a field. */
const char *typed_process_type(const struct typed_process *p, uint64_t addr);

#endif
