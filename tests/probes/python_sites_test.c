/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places in copies of pymalloc, found in code that the assembler makes here: labels say
 * where they are. It is never run.
 */
#include "probes/events/python_sites.h"
#include "tests/harness.h"

#define BEGIN(name)                                                                      \
	".globl sites_" name "\n.globl sites_" name "_end\n.globl sites_" name           \
	"_at\nsites_" name ":\n"
#define END(name) "sites_" name "_end:\n"
#define HERE(name) "sites_" name "_at:\n"

__asm__(".text\n"
	/* block in rax */
	BEGIN("gives") "mov 0x8(%rdx),%rax\naddl $1,(%rdx)\nmov (%rax),%rcx\n"
		       "mov %rcx,0x8(%rdx)\ntest %rcx,%rcx\n" HERE(
			       "gives") "je 1f\n"
					"ret\n1: ret\n" END("gives")
	/* its register becomes the next block */
	BEGIN("saved") "mov 0x8(%rax),%rsi\nincl (%rax)\nmov %rsi,0x18(%rsp)\n"
		       "mov (%rsi),%rsi\nmov %rsi,0x8(%rax)\ntest %rsi,%rsi\n" HERE(
			       "saved") "je 1f\nret\n1: ret\n" END("saved")
	/* the register is overwritten, and not saved */
	BEGIN("lost") "mov 0x8(%rax),%rsi\naddl $1,(%rax)\nmov (%rsi),%rsi\n"
		      "mov %rsi,0x8(%rax)\ntest %rsi,%rsi\n" HERE(
			      "lost") "je 1f\n"
				      "ret\n1: ret\n" END("lost")
	/* no count changes: another list */
	BEGIN("list") "mov 0x8(%rdx),%rax\nmov (%rax),%rcx\nmov %rcx,0x8(%rdx)\n"
		      "test %rcx,%rcx\n" HERE("list") "je 1f\nret\n1: ret\n" END("list")
	/* what is tested is something else by then */
	BEGIN("other") "mov 0x8(%rdx),%rax\naddl $1,(%rdx)\nmov (%rax),%rcx\n"
		       "mov %rcx,0x8(%rdx)\nmov 0x1000(%rip),%ecx\ntest %ecx,%ecx\n" HERE(
			       "other") "jne 1f\nret\n1: ret\n" END("other")
	/* block in rsi */
	BEGIN("takes") "mov 0x8(%rax),%rcx\nmov %rcx,(%rsi)\nmov (%rax),%ebx\n"
		       "mov %rsi,0x8(%rax)\nlea -1(%rbx),%edx\nmov %edx,(%rax)\n"
		       "test %rcx,%rcx\n" HERE("takes") "je 1f\nret\n1: ret\n" END(
			       "takes")
	/* the pool in rax has it still */
	BEGIN("pool") "mov 0x8(%rax),%rcx\nmov %rcx,-0x10(%rbx)\nmov %rdi,0x8(%rax)\n"
		      "mov (%rax),%edi\nsub $1,%edi\nmov %edi,(%rax)\ntest "
		      "%rcx,%rcx\n" HERE("pool") "je 1f\nret\n1: ret\n" END("pool")
	/* an object of a list, in rbx */
	".globl sites_flag\n.globl sites_function\n"
	"sites_flag: .long 0\n"
	"sites_function: ret\n" BEGIN(
		"reuses") "mov 0x11a8(%rdx,%rax,8),%rbx\nmov sites_flag(%rip),%ecx\n"
			  "test %ecx,%ecx\n" HERE(
				  "reuses") "jne 1f\nret\n"
					    "1: mov %rbx,%rdi\nmov %rax,0x8(%rsp)\ncall "
					    "sites_function\nret\n" END("reuses")
	/* the same, where the variable is compared in memory and the call comes next */
	BEGIN("compares") "mov 0xe20(%rax),%r12\ncmpl $0,sites_flag(%rip)\n" HERE(
		"compares") "je 1f\nmov %r12,%rdi\ncall sites_function\n1: ret\n" END("co"
										      "mp"
										      "ar"
										      "e"
										      "s")
	/* what a call has returned */
	BEGIN("fresh") "call sites_function\nmov %rax,%rbx\nmov sites_flag(%rip),%ecx\n"
		       "test %ecx,%ecx\n" HERE("fresh") "jne 1f\nret\n"
							"1: mov %rbx,%rdi\ncall "
							"sites_function\nret\n" END(
								"fresh")
	/* _Py_NewReference */
	BEGIN("births") "mov sites_flag(%rip),%eax\ntest %eax,%eax\n" HERE(
		"births") "jne 1f\nmovq $1,(%rdi)\nret\n1: sub $0x18,%rsp\ncall "
			  "sites_function\n"
			  "ret\n" END("births"));

#define DECLARE(name)                                                                    \
	extern const uint8_t sites_##name[], sites_##name##_end[], sites_##name##_at[];
DECLARE(gives)
DECLARE(saved)
DECLARE(lost)
DECLARE(list)
DECLARE(other)
DECLARE(takes)
DECLARE(pool)
DECLARE(reuses)
DECLARE(compares)
DECLARE(fresh)
DECLARE(births)
extern const uint8_t sites_flag[], sites_function[];

enum { RAX = 0, RBX = 3, RSP = 4, RSI = 6, R12 = 12 };

static struct hi_python_site_list find_in_code(const uint8_t *start, const uint8_t *end)
{
	const struct hi_python_births births = {(uintptr_t)sites_flag,
						(uintptr_t)sites_function};
	struct hi_python_site_list found = {};

	HI_ASSERT(hi_python_sites_find(start, (size_t)(end - start), (uintptr_t)start,
				       NULL, &births, &found));
	return found;
}

#define EXPECT_PLACE(name, kind_, ...)                                                   \
	do {                                                                             \
		const struct hi_python_value value = {__VA_ARGS__};                      \
		struct hi_python_site_list found =                                       \
			find_in_code(sites_##name, sites_##name##_end);                  \
                                                                                         \
		HI_ASSERT_EQ(1, found.count);                                            \
		HI_ASSERT_EQ((uintptr_t)sites_##name##_at, found.items[0].address);      \
		HI_ASSERT_EQ(kind_, found.items[0].kind);                                \
		HI_ASSERT_EQ(value.reg, found.items[0].value.reg);                       \
		HI_ASSERT_EQ(value.in_memory, found.items[0].value.in_memory);           \
		HI_ASSERT_EQ(value.offset, found.items[0].value.offset);                 \
		hi_vector_free(&found);                                                  \
	} while (0)

#define EXPECT_NONE(name)                                                                \
	do {                                                                             \
		struct hi_python_site_list found =                                       \
			find_in_code(sites_##name, sites_##name##_end);                  \
                                                                                         \
		HI_ASSERT_EQ(0, found.count);                                            \
		hi_vector_free(&found);                                                  \
	} while (0)

HI_TEST(python_sites, a_block_that_is_given_out_is_in_its_register)
{
	EXPECT_PLACE(gives, HI_PYTHON_SITE_GIVES, .reg = RAX);
}

HI_TEST(python_sites, or_where_the_register_was_saved)
{
	EXPECT_PLACE(saved, HI_PYTHON_SITE_GIVES, .reg = RSP, .in_memory = true,
		     .offset = 0x18);
	EXPECT_NONE(lost);
}

HI_TEST(python_sites, lists_without_a_count_are_no_pools)
{
	EXPECT_NONE(list);
}

HI_TEST(python_sites, the_test_is_of_the_next_block)
{
	EXPECT_NONE(other);
}

HI_TEST(python_sites, a_block_that_is_given_back_is_in_its_register_or_the_pool)
{
	EXPECT_PLACE(takes, HI_PYTHON_SITE_TAKES, .reg = RSI);
	EXPECT_PLACE(pool, HI_PYTHON_SITE_TAKES, .reg = RAX, .in_memory = true,
		     .offset = 8);
}

HI_TEST(python_sites, objects_of_free_lists_are_told_to_tracemalloc)
{
	EXPECT_PLACE(reuses, HI_PYTHON_SITE_REUSES, .reg = RBX);
	EXPECT_PLACE(compares, HI_PYTHON_SITE_REUSES, .reg = R12);
	EXPECT_NONE(fresh);
}

HI_TEST(python_sites, the_variable_and_the_function_are_those_of_new_references)
{
	struct hi_python_births births;

	HI_ASSERT(hi_python_births_find(sites_births,
					(size_t)(sites_births_end - sites_births),
					(uintptr_t)sites_births, &births));
	HI_ASSERT_EQ((uintptr_t)sites_flag, births.flag);
	HI_ASSERT_EQ((uintptr_t)sites_function, births.function);
}

/* Whatever bytes there are: it ends, and names places inside them. */
HI_TEST(python_sites, any_bytes_are_searched)
{
	uint8_t bytes[512];
	uint32_t state = 1;

	for (int round = 0; round < 200; round++) {
		struct hi_python_site_list found;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			state = state * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(state >> 24);
		}
		found = find_in_code(bytes, bytes + sizeof(bytes));
		for (size_t i = 0; i < found.count; i++)
			HI_ASSERT(found.items[i].address - (uintptr_t)bytes <
				  sizeof(bytes));
		hi_vector_free(&found);
	}
}
