/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of calls, by code that is written here for the assembler. */
#include "base/cleanup.h"
#include "decode/sites/code_calls.h"
#include "decode/sites/site_finder.h"
#include "decode/sites/site_functions.h"
#include "tests/harness.h"

#define CODE(name, text)                                                                 \
	extern const uint8_t code_##name[], code_end_##name[];                           \
	__asm__(".pushsection .rodata\n"                                                 \
		"code_" #name ":\n" text "\n"                                            \
		"code_end_" #name ":\n"                                                  \
		".byte 0\n"                                                              \
		".popsection")

/* p = malloc(72), the size on both ways through a branch */
CODE(constant, "test %edi,%edi\n"
	       "mov $72,%edi\n"
	       "je 1f\n"
	       "mov $72,%edi\n"
	       "1: call . + 4096\n"
	       "ret");
/* malloc(x ? 24 : 40) */
CODE(two, "test %edi,%edi\n"
	  "mov $24,%edi\n"
	  "je 1f\n"
	  "mov $40,%edi\n"
	  "1: call . + 4096\n"
	  "ret");
/* void *xmalloc(size_t n), as -O0 makes it: by way of the frame */
CODE(wrapper, "push %rbp\n"
	      "mov %rsp,%rbp\n"
	      "sub $32,%rsp\n"
	      "mov %rdi,-24(%rbp)\n"
	      "mov -24(%rbp),%rax\n"
	      "mov %rax,%rdi\n"
	      "call . + 4096\n"
	      "mov %rax,-8(%rbp)\n"
	      "cmpq $0,-8(%rbp)\n"
	      "jne 1f\n"
	      "call . + 8192\n"
	      "1: mov -8(%rbp),%rax\n"
	      "leave\n"
	      "ret");
/* malloc(n * 24 + 16), at the end of a function */
CODE(elements, "lea (%rdi,%rdi,2),%rdi\n"
	       "shl $3,%rdi\n"
	       "add $16,%rdi\n"
	       "jmp . + 4096");
/* T *p = new T: a constructor, and a table of virtual functions */
CODE(constructed, "push %rbx\n"
		  "mov $32,%edi\n"
		  "call . + 4096\n"
		  "mov %rax,%rbx\n"
		  "mov %rax,%rdi\n"
		  "call . + 8192\n"
		  "mov $0x5000,%eax\n"
		  "mov %rax,(%rbx)\n"
		  "pop %rbx\n"
		  "ret");
/* A loop that counts the size up */
CODE(loop, "mov $16,%ebx\n"
	   "1: mov %ebx,%edi\n"
	   "call . + 4096\n"
	   "add $16,%ebx\n"
	   "jmp 1b");

/* hooks.take(40), hooks.take(hooks.more + 8): by what a variable has */
CODE(variable, "mov . + 0x2000(%rip),%rax\n"
	       "mov $40,%edi\n"
	       "call *%rax\n"
	       "mov . + 0x3000(%rip),%rdi\n"
	       "add $8,%rdi\n"
	       "call *%rdi\n"
	       "ret");

static struct hi_code_calls read_calls(const uint8_t *code, const uint8_t *end)
{
	struct hi_code_decoder *decoder = NULL;
	struct hi_code_steps steps = {};
	struct hi_code_calls calls = {};
	struct hi_error err;

	HI_ASSERT_OK(hi_code_decoder_open(&decoder, &err), &err);
	HI_ASSERT(hi_code_steps_read(decoder, code, (size_t)(end - code), 0x1000, 1000,
				     &steps));
	HI_ASSERT_OK(hi_code_calls_find(&steps, &calls, &err), &err);
	hi_vector_free(&steps);
	hi_code_decoder_close(decoder);
	return calls;
}
#define CALLS_OF(name) read_calls(code_##name, code_end_##name)

HI_TEST(site_calls, a_constant_is_found_where_all_ways_agree)
{
	struct hi_code_calls calls = CALLS_OF(constant);

	HI_ASSERT_EQ(1, calls.count);
	HI_ASSERT_EQ(HI_VALUE_CONSTANT, calls.items[0].arguments[0].kind);
	HI_ASSERT_EQ(72, calls.items[0].arguments[0].add);
	HI_ASSERT(calls.items[0].is_returned);
	hi_vector_free(&calls);
	calls = CALLS_OF(two);
	HI_ASSERT_EQ(HI_VALUE_ANY, calls.items[0].arguments[0].kind);
	hi_vector_free(&calls);
	calls = CALLS_OF(loop);
	HI_ASSERT_EQ(HI_VALUE_ANY, calls.items[0].arguments[0].kind);
	hi_vector_free(&calls);
}

HI_TEST(site_calls, a_parameter_is_passed_on_through_the_frame)
{
	struct hi_code_calls calls = CALLS_OF(wrapper);

	HI_ASSERT_EQ(2, calls.count);
	HI_ASSERT_EQ(HI_VALUE_PARAMETER, calls.items[0].arguments[0].kind);
	HI_ASSERT_EQ(0, calls.items[0].arguments[0].index);
	HI_ASSERT(calls.items[0].is_returned);
	HI_ASSERT(!calls.items[1].is_returned);
	hi_vector_free(&calls);
}

HI_TEST(site_calls, a_size_in_elements_has_factor_and_rest)
{
	struct hi_code_calls calls = CALLS_OF(elements);
	struct hi_code_value size;
	struct hi_site_function does;

	HI_ASSERT_EQ(1, calls.count);
	HI_ASSERT(calls.items[0].is_jump);
	HI_ASSERT(hi_site_function_named("malloc", &does));
	size = hi_site_function_size(&does, &calls.items[0]);
	HI_ASSERT_EQ(HI_VALUE_PARAMETER, size.kind);
	HI_ASSERT_EQ(24, size.mul);
	HI_ASSERT_EQ(16, size.add);
	hi_vector_free(&calls);
}

HI_TEST(site_calls, a_result_is_followed_to_its_constructor_and_its_first_word)
{
	struct hi_code_calls calls = CALLS_OF(constructed);

	HI_ASSERT_EQ(2, calls.count);
	HI_ASSERT_EQ(32, calls.items[0].arguments[0].add);
	HI_ASSERT_EQ(0x5000, calls.items[0].first_word);
	HI_ASSERT_EQ(HI_VALUE_RESULT, calls.items[1].arguments[0].kind);
	HI_ASSERT_EQ(0, calls.items[1].arguments[0].index);
	hi_vector_free(&calls);
}

HI_TEST(site_calls, a_call_of_what_a_variable_has_leads_to_the_variable)
{
	struct hi_code_calls calls = CALLS_OF(variable);

	HI_ASSERT_EQ(2, calls.count);
	HI_ASSERT_EQ(0x3000, calls.items[0].target);
	HI_ASSERT(calls.items[0].is_through_memory);
	HI_ASSERT_EQ(40, calls.items[0].arguments[0].add);
	/* A number that is added to it is no address. */
	HI_ASSERT_EQ(0, calls.items[1].target);
	HI_ASSERT(!calls.items[1].is_through_memory);
	HI_ASSERT_EQ(HI_VALUE_ANY, calls.items[1].arguments[0].kind);
	hi_vector_free(&calls);
}

HI_TEST(site_calls, code_of_rust_s_library_allocates_for_the_program)
{
	HI_ASSERT(hi_site_is_library("<[app::Row]>::to_vec"));
	HI_ASSERT(hi_site_is_library("<str>::repeat"));
	HI_ASSERT(hi_site_is_library(
		"<app::Row as alloc::vec::spec_from_elem::SpecFromElem>::from_elem"));
	HI_ASSERT(!hi_site_is_library("<app::Row as core::clone::Clone>::clone"));
	HI_ASSERT(!hi_site_is_library("<[app::Row] as app::Sum>::sum"));
	HI_ASSERT(!hi_site_is_library("<app::Rows<[app::Row]>>::new"));
}

HI_TEST(site_calls, files_and_crates_of_rust_s_library_are_told_from_the_program_s)
{
	HI_ASSERT(hi_site_is_library_file("library/alloc/src/slice.rs"));
	HI_ASSERT(hi_site_is_library_file("/rust/deps/gimli-0.32.3/src/read/abbrev.rs"));
	HI_ASSERT(!hi_site_is_library_file("library/alloc/pool.c"));
	HI_ASSERT(!hi_site_is_library_file("/home/me/library/shelf.rs"));
	HI_ASSERT(hi_site_comes_with_rust("<gimli::read::abbrev::Attributes>::push"));
	HI_ASSERT(hi_site_comes_with_rust("addr2line::line::path_push"));
	HI_ASSERT(!hi_site_comes_with_rust("app::gimli::push"));
}

static const char *constructed(const char *name)
{
	static char type[100];

	return hi_site_type_constructed(name, type, sizeof(type)) ? type : "";
}

HI_TEST(site_calls, types_are_in_names_of_constructors_and_allocators)
{
	char type[100];

	HI_ASSERT_STREQ("shop::Order", constructed("shop::Order::Order"));
	HI_ASSERT_STREQ("Box<ns::T>", constructed("Box<ns::T>::Box"));
	HI_ASSERT_STREQ("", constructed("shop::Order::Orders"));
	HI_ASSERT_STREQ("", constructed("shop::Order::~Order"));
	HI_ASSERT_STREQ("", constructed("main"));
	HI_ASSERT(hi_site_type_allocated(
		"std::__new_allocator<std::_List_node<int> >::allocate", type,
		sizeof(type)));
	HI_ASSERT_STREQ("std::_List_node<int> ", type);
	HI_ASSERT(!hi_site_type_allocated("shop::allocate", type, sizeof(type)));
}
