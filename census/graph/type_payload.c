/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name is a template of the table below or none; its arguments at some places are
 * payloads, whose names may be such templates again. The list of payloads is the queue of
 * what is still to be looked at, so that nothing recurses.
 */
#include "census/graph/type_payload.h"

#include <stdbool.h>
#include <string.h>

enum {
	NAME_LENGTH_MAX = 8192,
	DEPTH_MAX = 64, /* of brackets */
	ARGUMENTS_MAX = 8,
	ALL = ARGUMENTS_MAX, /* every argument is one */
	COUNT_DIGITS_MAX = 12,
	HEAD_SIZE = 64, /* of a name in the table */
};

/* Arguments [first, first + n) of the template are by value in an object of it. */
struct wrapper {
	const char *name; /* without inline namespaces */
	uint8_t first, n;
	bool is_array; /* the argument after them is their number */
};
static const struct wrapper wrappers[] = {
	/* libstdc++ */
	{"std::_List_node", 0, 1, false},
	{"std::_Fwd_list_node", 0, 1, false},
	{"std::_Rb_tree_node", 0, 1, false},
	{"std::__detail::_Hash_node", 0, 1, false},
	{"std::_Sp_counted_ptr_inplace", 0, 1, false},
	{"std::__future_base::_Result", 0, 1, false},
	{"__gnu_cxx::__aligned_membuf", 0, 1, false},
	{"__gnu_cxx::__aligned_buffer", 0, 1, false},
	/* libc++ */
	{"std::__list_node", 0, 1, false},
	{"std::__forward_list_node", 0, 1, false},
	{"std::__tree_node", 0, 1, false},
	{"std::__hash_node", 0, 1, false},
	{"std::__value_type", 0, 2, false},
	{"std::__hash_value_type", 0, 2, false},
	{"std::__shared_ptr_emplace", 0, 1, false},
	/* both */
	{"std::pair", 0, 2, false},
	{"std::tuple", 0, ALL, false},
	{"std::optional", 0, 1, false},
	{"std::array", 0, 1, true},
	/* Rust */
	{"alloc::sync::ArcInner", 0, 1, false},
	{"alloc::rc::RcBox", 0, 1, false},
	{"alloc::rc::RcInner", 0, 1, false},
	{"alloc::collections::linked_list::Node", 0, 1, false},
	{"alloc::collections::btree::node::LeafNode", 0, 2, false},
	{"alloc::collections::btree::node::InternalNode", 0, 2, false},
	{"core::option::Option", 0, 1, false},
	{"core::cell::Cell", 0, 1, false},
	{"core::cell::RefCell", 0, 1, false},
	{"core::cell::UnsafeCell", 0, 1, false},
	{"core::mem::maybe_uninit::MaybeUninit", 0, 1, false},
	{"core::mem::manually_drop::ManuallyDrop", 0, 1, false},
	{"std::sync::mutex::Mutex", 0, 1, false},
	{"std::sync::poison::mutex::Mutex", 0, 1, false},
	{"std::sync::rwlock::RwLock", 0, 1, false},
	{"std::sync::poison::rwlock::RwLock", 0, 1, false},
	/* Qt, Abseil and Boost */
	{"QMapNode", 0, 2, false},
	{"QHashNode", 0, 2, false},
	{"QLinkedListNode", 0, 1, false},
	{"absl::container_internal::map_slot_type", 0, 2, false},
	{"boost::unordered::detail::ptr_node", 0, 1, false},
	{"boost::unordered::detail::node", 0, 1, false},
	{"boost::detail::sp_counted_impl_pd", 1, 1, false},
	{"boost::detail::sp_ms_deleter", 0, 1, false},
};

/* Namespaces that the program does not write. */
static const char *const inline_scopes[] = {
	"__cxx11::", "__1::", "__2::", "__ndk1::", "__debug::", "__cxx1998::", "_V2::"};

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* Bytes [at, end) of a name. */
struct span {
	const char *at, *end;
};

static bool is_payload_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Skips the characters after the word "operator", which may be brackets. */
static const char *skip_operator_signs(const char *at, const char *end)
{
	const char *start = at;

	if (end - at >= 2 &&
	    ((at[0] == '(' && at[1] == ')') || (at[0] == '[' && at[1] == ']')))
		return at + 2;
	while (at < end && at - start < 3 && strchr("<=>-+*/%^&|!~,", *at))
		at++;
	return at;
}

/* Skips a word, a character constant, an arrow or one other character. */
static const char *skip_name_part(const char *at, const char *end)
{
	const char *start = at;

	while (at < end && is_payload_char(*at))
		at++;
	if (at - start == 8 && memcmp(start, "operator", 8) == 0)
		return skip_operator_signs(at, end);
	if (at > start)
		return at;
	if (*at == '\'' && end - at >= 3 && at[1] != '\\' && at[2] == '\'')
		return at + 3;
	if (*at == '\'' && end - at >= 4 && at[1] == '\\' && at[3] == '\'')
		return at + 4;
	if ((*at == '-' || *at == '=') && end - at >= 2 && at[1] == '>')
		return at + 2;
	return at + 1;
}

static char bracket_of(char close)
{
	return close == '>' ? '<' : close == ')' ? '(' : close == ']' ? '[' : '{';
}

/* Takes a closing bracket off the stack. In "(a < b)" the "<" is no bracket, and a ">"
 * inside of parentheses is none. */
static bool close_name_bracket(const char *stack, unsigned *depth, char close)
{
	char open = bracket_of(close);
	unsigned left = *depth;

	if (close == '>' && left && stack[left - 1] != '<')
		return true;
	while (left && stack[left - 1] != open) {
		if (stack[left - 1] != '<')
			return false;
		left--;
	}
	if (!left)
		return false;
	*depth = left - 1;
	return true;
}

/* The end of an argument that begins at `at`: its comma or a bracket that closes the
 * list. NULL: the name is not balanced. */
static const char *find_argument_end(const char *at, const char *end)
{
	char stack[DEPTH_MAX];
	unsigned depth = 0;

	while (at < end) {
		const char *next = skip_name_part(at, end);

		if (next == at + 1 && strchr("<([{", *at)) {
			if (depth == DEPTH_MAX)
				return NULL;
			stack[depth++] = *at;
		} else if (next == at + 1 && strchr(">)]}", *at)) {
			if (!depth)
				return at;
			if (!close_name_bracket(stack, &depth, *at))
				return NULL;
		} else if (!depth && *at == ',') {
			return at;
		}
		at = next;
	}
	return NULL;
}

static bool begins_with_word(struct span s, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(s.end - s.at) > n && memcmp(s.at, word, n) == 0;
}

static bool ends_with_word(struct span s, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(s.end - s.at) > n && memcmp(s.end - n, word, n) == 0;
}

static struct span trim_span(struct span s)
{
	static const char *const words[] = {"const ", "volatile ", "struct ",
					    "class ", "union ",	   "enum "};

	while (s.at < s.end && *s.at == ' ')
		s.at++;
	for (size_t i = 0; i < N_OF(words); i++)
		if (begins_with_word(s, words[i]))
			s.at += strlen(words[i]);
	while (s.at < s.end && s.end[-1] == ' ')
		s.end--;
	/* "int const", "Order *const". */
	if (ends_with_word(s, " const"))
		s.end -= 6;
	else if (ends_with_word(s, "*const"))
		s.end -= 5;
	while (s.at < s.end && s.end[-1] == ' ')
		s.end--;
	return s;
}

/* "16", "16ul"; 0: no number. */
static uint64_t read_payload_count(struct span s)
{
	uint64_t n = 0;

	for (int digits = 0; s.at < s.end && *s.at >= '0' && *s.at <= '9'; s.at++) {
		if (++digits > COUNT_DIGITS_MAX)
			return 0;
		n = n * 10 + (uint64_t)(*s.at - '0');
	}
	while (s.at < s.end && strchr("ulUL", *s.at))
		s.at++;
	return s.at == s.end ? n : 0;
}

/* Returns the number of arguments of the list that begins at `at` and ends, by the bracket
 * `close`, with the name; 0: it is none. Further ones than ARGUMENTS_MAX are left out. */
static unsigned split_arguments(const char *at, const char *end, char close,
				struct span ret[ARGUMENTS_MAX])
{
	for (unsigned n = 0;;) {
		const char *next = find_argument_end(at, end);

		if (!next)
			return 0;
		if (n < ARGUMENTS_MAX)
			ret[n++] = trim_span((struct span){at, next});
		if (*next != ',')
			return *next == close && next + 1 == end ? n : 0;
		at = next + 1;
	}
}

/* "(String, shop::Order)" of Rust: returns the number of its members; 0: it is none. */
static unsigned split_tuple(struct span s, struct span ret[ARGUMENTS_MAX])
{
	unsigned n;

	if (s.end - s.at < 3 || *s.at != '(')
		return 0;
	n = split_arguments(s.at + 1, s.end, ')', ret);
	return n > 1 ? n : 0;
}

/* Is it a value that has a name: no pointer, reference, function or number? */
static bool is_payload_name(struct span s)
{
	struct span members[ARGUMENTS_MAX];

	return s.at < s.end && !strchr("*&]", s.end[-1]) &&
	       (s.end[-1] != ')' || split_tuple(s, members)) && *s.at != '&' &&
	       *s.at != '*' && !(*s.at >= '0' && *s.at <= '9') && *s.at != '-' &&
	       *s.at != '\'';
}

struct payload_list {
	struct hi_payload *items;
	size_t n;
};

static void add_payload(struct payload_list *list, struct span s, uint64_t count);

/* "shop::Item [4][16]": the items. False: it is no array. */
static bool add_array_payload(struct payload_list *list, struct span s, uint64_t count)
{
	bool is_array = false;

	while (s.end - s.at > 2 && s.end[-1] == ']') {
		const char *open = s.end - 1;
		uint64_t n;

		while (open > s.at && *open != '[')
			open--;
		if (open == s.at)
			return false;
		n = read_payload_count((struct span){open + 1, s.end - 1});
		if (n && count <= UINT64_MAX / n)
			count *= n;
		s = trim_span((struct span){s.at, open});
		is_array = true;
	}
	if (is_array)
		add_payload(list, s, count);
	return is_array;
}

static void add_payload(struct payload_list *list, struct span s, uint64_t count)
{
	if (list->n == HI_PAYLOADS_MAX || !is_payload_name(s))
		return;
	list->items[list->n++] =
		(struct hi_payload){s.at, (size_t)(s.end - s.at), count ? count : 1};
}

static size_t measure_inline_scope(struct span s)
{
	for (size_t i = 0; i < N_OF(inline_scopes); i++)
		if (begins_with_word(s, inline_scopes[i]))
			return strlen(inline_scopes[i]);
	return 0;
}

/* Copies the name of a template without inline namespaces and returns the byte after its
 * "<"; NULL: it is none, or longer than all in the table. */
static const char *read_template_name(struct span s, char head[HEAD_SIZE])
{
	size_t n = 0;

	while (s.at < s.end && *s.at != '<') {
		if (n && head[n - 1] == ':' && *s.at == '_') {
			size_t scope = measure_inline_scope(s);

			s.at += scope;
			if (scope)
				continue;
		}
		if (n + 1 == HEAD_SIZE)
			return NULL;
		head[n++] = *s.at++;
	}
	head[n] = '\0';
	return s.at < s.end ? s.at + 1 : NULL;
}

static const struct wrapper *find_wrapper(struct span s, const char **arguments_ret)
{
	char head[HEAD_SIZE];

	*arguments_ret = read_template_name(s, head);
	for (size_t i = 0; *arguments_ret && i < N_OF(wrappers); i++)
		if (strcmp(head, wrappers[i].name) == 0)
			return &wrappers[i];
	return NULL;
}

/* The payloads of one name, to the end of the list. */
static void expand_payload(struct payload_list *list, struct span s, uint64_t count)
{
	struct span arguments[ARGUMENTS_MAX];
	const struct wrapper *w;
	const char *at = NULL;
	unsigned n;

	w = find_wrapper(s, &at);
	n = w ? split_arguments(at, s.end, '>', arguments) : split_tuple(s, arguments);
	if (w && w->is_array && n > 1 && read_payload_count(arguments[1]) &&
	    count <= UINT64_MAX / read_payload_count(arguments[1]))
		count *= read_payload_count(arguments[1]);
	for (unsigned i = w ? w->first : 0; i < n && (!w || i - w->first < w->n); i++)
		if (!add_array_payload(list, arguments[i], count))
			add_payload(list, arguments[i], count);
}

size_t hi_type_payloads(const char *name, struct hi_payload ret[HI_PAYLOADS_MAX])
{
	struct payload_list list = {.items = ret};
	size_t length = name ? strnlen(name, NAME_LENGTH_MAX) : 0;
	struct span whole;

	if (!length || length == NAME_LENGTH_MAX || !strpbrk(name, "<[("))
		return 0;
	whole = trim_span((struct span){name, name + length});
	if (!add_array_payload(&list, whole, 1))
		expand_payload(&list, whole, 1);
	for (size_t i = 0; i < list.n; i++)
		expand_payload(&list,
			       (struct span){ret[i].name, ret[i].name + ret[i].length},
			       ret[i].count);
	return list.n;
}
