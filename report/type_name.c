/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name becomes tokens whose brackets know their partners; a walk over the tokens writes
 * the short name. Where a qualified name begins, the rules are tried.
 */
#include "report/type_name.h"

#include <stdint.h>
#include <string.h>

enum {
	NAME_BYTES_MAX = 8192,
	TOKENS_MAX = 2048,
	NESTING_MAX = 48, /* of brackets */
	CAPTURES_MAX = 4,
};

enum token_kind {
	TOKEN_WORD, /* name, number, operator function, character constant */
	TOKEN_SCOPE,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_OTHER,
};
struct token {
	uint16_t at, length;
	uint16_t partner; /* of a bracket */
	uint8_t kind;
	bool space; /* in front of it */
};

/* Tokens [first, end). */
struct range {
	unsigned first, end;
};

struct name {
	const char *text;
	struct token tokens[TOKENS_MAX];
	unsigned n;
	bool unqualified;
	bool changed; /* the short name is not the full one */
	char *out;
	size_t size, used;
};

/*
 * A pattern is a qualified name without inline namespaces. $X: one template argument;
 * "const $X": without its const; "$X *": what the pointer leads to; "$X...": all that
 * are left. ?: any argument; "...": any that are left, also none.
 * "std::" at the begin of a shape is left out inside of other names.
 */
struct name_rule {
	const char *pattern, *shape;
};
static const struct name_rule rules[] = {
	/* libstdc++ and libc++: values */
	{"std::basic_string<char, ...>", "std::string"},
	{"std::basic_string<wchar_t, ...>", "std::wstring"},
	{"std::basic_string<char8_t, ...>", "std::u8string"},
	{"std::basic_string<char16_t, ...>", "std::u16string"},
	{"std::basic_string<char32_t, ...>", "std::u32string"},
	{"std::basic_string_view<char, ...>", "std::string_view"},
	{"std::basic_stringstream<char, ...>", "std::stringstream"},
	{"std::basic_ostringstream<char, ...>", "std::ostringstream"},
	{"std::basic_istringstream<char, ...>", "std::istringstream"},
	{"std::basic_stringbuf<char, ...>", "std::stringbuf"},
	{"std::basic_fstream<char, ...>", "std::fstream"},
	{"std::basic_ofstream<char, ...>", "std::ofstream"},
	{"std::basic_ifstream<char, ...>", "std::ifstream"},
	{"std::basic_filebuf<char, ...>", "std::filebuf"},
	{"std::_List_iterator<$T>", "std::list<$T>::iterator"},
	{"std::_List_const_iterator<$T>", "std::list<$T>::const_iterator"},
	{"std::_Fwd_list_iterator<$T>", "std::forward_list<$T>::iterator"},
	{"std::_Rb_tree_iterator<std::pair<const $K, $V>>", "std::map<$K, $V>::iterator"},
	{"std::_Rb_tree_iterator<$T>", "std::set<$T>::iterator"},
	{"std::_Rb_tree_const_iterator<std::pair<const $K, $V>>",
	 "std::map<$K, $V>::const_iterator"},
	{"std::_Rb_tree_const_iterator<$T>", "std::set<$T>::const_iterator"},
	{"std::_Deque_iterator<$T, ...>", "std::deque<$T>::iterator"},
	{"std::__detail::_Node_iterator<std::pair<const $K, $V>, ...>",
	 "std::unordered_map<$K, $V>::iterator"},
	{"std::__detail::_Node_iterator<$T, ...>", "std::unordered_set<$T>::iterator"},
	{"std::_Vector_base<$T, ...>", "std::vector<$T>"},
	{"std::__shared_ptr<$T, ...>", "std::shared_ptr<$T>"},
	{"std::__weak_ptr<$T, ...>", "std::weak_ptr<$T>"},
	{"std::__uniq_ptr_impl<$T, ...>", "std::unique_ptr<$T>"},
	/* libstdc++: nodes and blocks */
	{"std::__detail::_Hash_node<std::pair<const $K, $V>, ?>",
	 "unordered_map<$K, $V> node"},
	{"std::__detail::_Hash_node<$T, ?>", "unordered_set<$T> node"},
	{"std::__detail::_Hash_node_base *", "hash buckets"},
	{"std::__detail::_Hash_node_base", "hash node"},
	{"std::_Rb_tree_node<std::pair<const $K, $V>>", "map<$K, $V> node"},
	{"std::_Rb_tree_node<$T>", "set<$T> node"},
	{"std::_Rb_tree_node_base", "tree node"},
	{"std::_List_node<$T>", "list<$T> node"},
	{"std::__detail::_List_node_base", "list node"},
	{"std::_Fwd_list_node<$T>", "forward_list<$T> node"},
	{"std::_Fwd_list_node_base", "forward_list node"},
	{"std::_Sp_counted_ptr_inplace<$T, ...>", "shared_ptr<$T> block"},
	{"std::_Sp_counted_ptr<$T *, ...>", "shared_ptr<$T> control block"},
	{"std::_Sp_counted_deleter<$T *, std::default_delete<?>, ...>",
	 "shared_ptr<$T> control block"},
	{"std::_Sp_counted_deleter<$T *, std::__sp_array_delete, ...>",
	 "shared_ptr<$T []> control block"},
	{"std::_Sp_counted_deleter<$T *, $D, ...>", "shared_ptr<$T> control block, $D"},
	{"std::_Sp_counted_base<...>", "shared_ptr control block"},
	{"std::basic_string<char, ...>::_Rep", "string buffer"},
	{"std::basic_string<wchar_t, ...>::_Rep", "wstring buffer"},
	{"std::thread::_State_impl<std::thread::_Invoker<std::tuple<$F, ...>>>",
	 "thread state of $F"},
	{"std::__future_base::_Result<$T>", "future<$T> result"},
	{"std::__future_base::_State_baseV2", "future state"},
	{"std::__future_base::_Async_state_impl<?, $T>", "async<$T> state"},
	{"std::__future_base::_Deferred_state<?, $T>", "deferred<$T> state"},
	/* libc++: nodes and blocks */
	{"std::__hash_node<std::__hash_value_type<$K, $V>, ?>",
	 "unordered_map<$K, $V> node"},
	{"std::__hash_node<$T, ?>", "unordered_set<$T> node"},
	{"std::__hash_node_base<?> *", "hash buckets"},
	{"std::__hash_node_base<?>", "hash node"},
	{"std::__hash_value_type<$K, $V>", "std::pair<$K, $V>"},
	{"std::__tree_node<std::__value_type<$K, $V>, ?>", "map<$K, $V> node"},
	{"std::__tree_node<$T, ?>", "set<$T> node"},
	{"std::__tree_node_base<?>", "tree node"},
	{"std::__tree_end_node<?>", "tree node"},
	{"std::__value_type<$K, $V>", "std::pair<$K, $V>"},
	{"std::__list_node<$T, ?>", "list<$T> node"},
	{"std::__list_node_base<$T, ?>", "list<$T> node base"},
	{"std::__forward_list_node<$T, ?>", "forward_list<$T> node"},
	{"std::__list_iterator<$T, ?>", "std::list<$T>::iterator"},
	{"std::__map_iterator<std::__tree_iterator<std::__value_type<$K, $V>, ...>>",
	 "std::map<$K, $V>::iterator"},
	{"std::__tree_iterator<$T, ...>", "std::set<$T>::iterator"},
	{"std::__shared_ptr_emplace<$T, ...>", "shared_ptr<$T> block"},
	{"std::__shared_ptr_pointer<$T *, std::default_delete<?>, ...>",
	 "shared_ptr<$T> control block"},
	{"std::__shared_ptr_pointer<$T *, "
	 "std::shared_ptr<?>::__shared_ptr_default_delete<"
	 "?, ?>, ...>",
	 "shared_ptr<$T> control block"},
	{"std::__shared_ptr_pointer<$T *, $D, ...>", "shared_ptr<$T> control block, $D"},
	{"std::__shared_weak_count", "shared_ptr control block"},
	{"std::__function::__func<$F, ?, $S>", "function<$S> of $F"},
	/* Qt 5 */
	{"QMapNode<$K, $V>", "QMap<$K, $V> node"},
	{"QMapData<$K, $V>", "QMap<$K, $V> data"},
	{"QMapNodeBase", "QMap node"},
	{"QHashNode<$K, QHashDummyValue>", "QSet<$K> node"},
	{"QHashNode<$K, $V>", "QHash<$K, $V> node"},
	{"QHashData::Node *", "hash buckets"},
	{"QHashData", "QHash data"},
	{"QListData::Data", "QList data"},
	{"QTypedArrayData<unsigned short>", "QString data"},
	{"QTypedArrayData<short unsigned int>", "QString data"},
	{"QTypedArrayData<char>", "QByteArray data"},
	{"QTypedArrayData<$T>", "QVector<$T> data"},
	{"QLinkedListNode<$T>", "QLinkedList<$T> node"},
	/* Rust */
	{"alloc::string::String", "String"},
	{"alloc::vec::Vec<$T, ...>", "Vec<$T>"},
	{"alloc::collections::vec_deque::VecDeque<$T, ...>", "VecDeque<$T>"},
	{"alloc::collections::linked_list::LinkedList<$T, ...>", "LinkedList<$T>"},
	{"alloc::collections::linked_list::Node<$T>", "LinkedList<$T> node"},
	{"alloc::collections::binary_heap::BinaryHeap<$T, ...>", "BinaryHeap<$T>"},
	{"alloc::collections::btree::map::BTreeMap<$K, $V, ...>", "BTreeMap<$K, $V>"},
	{"alloc::collections::btree::set::BTreeSet<$T, ...>", "BTreeSet<$T>"},
	{"alloc::collections::btree::node::LeafNode<$T, "
	 "alloc::collections::btree::set_val::SetValZST>",
	 "BTreeSet<$T> node"},
	{"alloc::collections::btree::node::LeafNode<$K, $V>", "BTreeMap<$K, $V> node"},
	{"alloc::collections::btree::node::InternalNode<$T, "
	 "alloc::collections::btree::set_val::SetValZST>",
	 "BTreeSet<$T> inner node"},
	{"alloc::collections::btree::node::InternalNode<$K, $V>",
	 "BTreeMap<$K, $V> inner node"},
	{"alloc::boxed::Box<$T, ...>", "Box<$T>"},
	{"alloc::rc::Rc<$T, ...>", "Rc<$T>"},
	{"alloc::rc::Weak<$T, ...>", "rc::Weak<$T>"},
	{"alloc::rc::RcInner<$T>", "Rc<$T> block"},
	{"alloc::rc::RcBox<$T>", "Rc<$T> block"},
	{"alloc::sync::Arc<$T, ...>", "Arc<$T>"},
	{"alloc::sync::Weak<$T, ...>", "sync::Weak<$T>"},
	{"alloc::sync::ArcInner<$T>", "Arc<$T> block"},
	{"alloc::borrow::Cow<$T>", "Cow<$T>"},
	{"std::collections::hash::map::HashMap<$K, $V, ...>", "HashMap<$K, $V>"},
	{"std::collections::hash::set::HashSet<$T, ...>", "HashSet<$T>"},
	{"hashbrown::map::HashMap<$K, $V, ...>", "HashMap<$K, $V>"},
	{"hashbrown::set::HashSet<$T, ...>", "HashSet<$T>"},
	{"hashbrown::raw::RawTable<$T, ...>", "hash table of $T"},
	{"core::option::Option<$T>", "Option<$T>"},
	{"core::result::Result<$T, $E>", "Result<$T, $E>"},
	{"core::cell::Cell<$T>", "Cell<$T>"},
	{"core::cell::RefCell<$T>", "RefCell<$T>"},
	{"core::cell::UnsafeCell<$T>", "UnsafeCell<$T>"},
	{"core::pin::Pin<$T>", "Pin<$T>"},
	{"core::mem::maybe_uninit::MaybeUninit<$T>", "MaybeUninit<$T>"},
	{"core::mem::manually_drop::ManuallyDrop<$T>", "ManuallyDrop<$T>"},
	{"core::ptr::non_null::NonNull<$T>", "NonNull<$T>"},
	{"core::ptr::unique::Unique<$T>", "Unique<$T>"},
	{"std::sync::mutex::Mutex<$T>", "Mutex<$T>"},
	{"std::sync::poison::mutex::Mutex<$T>", "Mutex<$T>"},
	{"std::sync::rwlock::RwLock<$T>", "RwLock<$T>"},
	{"std::sync::poison::rwlock::RwLock<$T>", "RwLock<$T>"},
	{"std::sync::mpmc::list::Block<$T>", "channel<$T> block"},
	{"std::sync::mpmc::counter::Counter<std::sync::mpmc::list::Channel<$T>>",
	 "channel<$T>"},
	/* Abseil and Boost */
	{"absl::container_internal::raw_hash_set<"
	 "absl::container_internal::FlatHashMapPolicy<$K, $V>, ...>",
	 "absl::flat_hash_map<$K, $V>"},
	{"absl::container_internal::raw_hash_set<"
	 "absl::container_internal::NodeHashMapPolicy<$K, $V>, ...>",
	 "absl::node_hash_map<$K, $V>"},
	{"absl::container_internal::raw_hash_set<"
	 "absl::container_internal::FlatHashSetPolicy<$T>, ...>",
	 "absl::flat_hash_set<$T>"},
	{"absl::container_internal::raw_hash_set<"
	 "absl::container_internal::NodeHashSetPolicy<$T>, ...>",
	 "absl::node_hash_set<$T>"},
	{"absl::container_internal::map_slot_type<$K, $V>", "flat_hash_map<$K, $V> slot"},
	{"absl::inlined_vector_internal::Storage<$T, ...>", "absl::InlinedVector<$T>"},
	{"boost::detail::sp_counted_impl_p<$T>", "boost::shared_ptr<$T> control block"},
	{"boost::detail::sp_counted_impl_pd<$T *, boost::detail::sp_ms_deleter<?>>",
	 "boost::shared_ptr<$T> block"},
	{"boost::detail::sp_counted_impl_pd<$T *, $D>",
	 "boost::shared_ptr<$T> control block, $D"},
	{"boost::unordered::detail::ptr_node<std::pair<const $K, $V>>",
	 "boost::unordered_map<$K, $V> node"},
	{"boost::unordered::detail::ptr_node<$T>", "boost::unordered_set<$T> node"},
	{"boost::unordered::detail::node<std::pair<const $K, $V>, ...>",
	 "boost::unordered_map<$K, $V> node"},
	{"boost::unordered::detail::node<$T, ...>", "boost::unordered_set<$T> node"},
	{"boost::container::new_allocator<?>", "new_allocator"},
};

/* Left out at the end of a list of arguments, but not as the only one. */
static const char *const default_arguments[] = {
	"std::allocator<?>",
	"std::pmr::polymorphic_allocator<?>",
	"std::char_traits<?>",
	"std::hash<?>",
	"std::equal_to<?>",
	"std::less<?>",
	"std::default_delete<?>",
	"alloc::alloc::Global",
	"std::hash::random::RandomState",
	"std::collections::hash::map::RandomState",
	"absl::hash_internal::Hash<?>",
	"absl::container_internal::StringHash",
	"absl::container_internal::StringHashEq::Eq",
	"boost::hash<?>",
	"boost::container::new_allocator<?>",
};

/* Namespaces that the program does not write. */
static const char *const inline_namespaces[] = {
	"__cxx11",	"__1",		"__2",		"__ndk1",	"_V2",
	"__debug",	"__cxx1998",	"__n4861",	"debian3",	"lts_20210324",
	"lts_20211102", "lts_20220623", "lts_20230125", "lts_20230802", "lts_20240116",
	"lts_20240722", "lts_20250127",
};

static const char *const operators[] = {
	"<=>", "->*", "<<=", ">>=", "...", "()", "[]", "->", "<<", ">>",
	"<=",  ">=",  "==",  "!=",  "&&",  "||", "++", "--", "+=", "-=",
	"*=",  "/=",  "%=",  "^=",  "&=",  "|=", "<",  ">",  "+",  "-",
	"*",   "/",   "%",   "^",   "&",   "|",	 "~",  "!",  "=",  ",",
};

enum { RULES = sizeof(rules) / sizeof(rules[0]) };
#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* ---- tokens ---- */

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Length of the operator behind the word "operator". */
static size_t operator_word_length(const char *text)
{
	for (size_t i = 0; i < N_OF(operators); i++)
		if (strncmp(text, operators[i], strlen(operators[i])) == 0)
			return strlen(operators[i]);
	return 0;
}

/* Length of the token at text, its kind in *kind. */
static size_t measure_token(const char *text, uint8_t *kind)
{
	size_t n = 0;

	*kind = TOKEN_WORD;
	while (is_word_char(text[n]))
		n++;
	if (n == 8 && memcmp(text, "operator", 8) == 0)
		return n + operator_word_length(text + n);
	if (n)
		return n;
	/* A character constant; a lifetime of Rust has no closing quote. */
	if (text[0] == '\'' && text[1] && text[2] == '\'')
		return 3;
	if (text[0] == '\'' && text[1] == '\\' && text[2] && text[3] == '\'')
		return 4;
	*kind = TOKEN_SCOPE;
	if (text[0] == ':' && text[1] == ':')
		return 2;
	*kind = TOKEN_OTHER;
	if ((text[0] == '-' || text[0] == '=') && text[1] == '>')
		return 2;
	if (strchr("<([{", text[0]))
		*kind = TOKEN_OPEN;
	else if (strchr(">)]}", text[0]))
		*kind = TOKEN_CLOSE;
	return 1;
}

static char partner_of(char close)
{
	return close == '>' ? '<' : close == ')' ? '(' : close == ']' ? '[' : '{';
}

/* Pairs a closing bracket. In "(a < b)" the "<" is no bracket. */
static bool pair_bracket(struct name *name, unsigned i, uint16_t *stack, unsigned *depth)
{
	char want = partner_of(name->text[name->tokens[i].at]);

	while (*depth > 0) {
		unsigned open = stack[*depth - 1];
		char c = name->text[name->tokens[open].at];

		if (c == want) {
			name->tokens[open].partner = (uint16_t)i;
			name->tokens[i].partner = (uint16_t)open;
			--*depth;
			return true;
		}
		if (want == '<') {
			name->tokens[i].kind = TOKEN_OTHER;
			return true;
		}
		if (c != '<')
			return false;
		name->tokens[open].kind = TOKEN_OTHER;
		--*depth;
	}
	return false;
}

static bool read_name_tokens(struct name *name)
{
	uint16_t stack[NESTING_MAX];
	unsigned depth = 0;
	size_t at = 0;

	for (;;) {
		struct token t = {};
		size_t spaces = strspn(name->text + at, " ");

		at += spaces;
		if (!name->text[at])
			return depth == 0;
		if (name->n == TOKENS_MAX)
			return false;
		t.at = (uint16_t)at;
		t.space = spaces > 0;
		t.length = (uint16_t)measure_token(name->text + at, &t.kind);
		name->tokens[name->n] = t;
		if (t.kind == TOKEN_OPEN) {
			if (depth == NESTING_MAX)
				return false;
			stack[depth++] = (uint16_t)name->n;
		} else if (t.kind == TOKEN_CLOSE &&
			   !pair_bracket(name, name->n, stack, &depth)) {
			return false;
		}
		name->n++;
		at += t.length;
	}
}

static bool token_is(const struct name *name, unsigned i, const char *text, size_t length)
{
	const struct token *t = &name->tokens[i];

	return t->length == length && memcmp(name->text + t->at, text, length) == 0;
}

static char token_first(const struct name *name, unsigned i)
{
	return name->text[name->tokens[i].at];
}

static bool opens_arguments(const struct name *name, unsigned i)
{
	return name->tokens[i].kind == TOKEN_OPEN && token_first(name, i) == '<';
}

/* End of the argument that begins at i: a comma, or the end of the list. */
static unsigned end_of_argument(const struct name *name, unsigned i, unsigned end)
{
	for (; i < end; i++) {
		if (name->tokens[i].kind == TOKEN_OPEN)
			i = name->tokens[i].partner;
		else if (name->tokens[i].kind == TOKEN_CLOSE || token_is(name, i, ",", 1))
			break;
	}
	return i < end ? i : end;
}

/* Is the word at i in a namespace of a library? */
static bool is_in_library(const struct name *name, unsigned i)
{
	while (i >= 2 && name->tokens[i - 1].kind == TOKEN_SCOPE &&
	       name->tokens[i - 2].kind == TOKEN_WORD)
		i -= 2;
	return token_is(name, i, "std", 3) || token_is(name, i, "absl", 4);
}

static unsigned skip_inline_namespace(const struct name *name, unsigned i, unsigned end)
{
	if (i + 1 >= end || name->tokens[i + 1].kind != TOKEN_SCOPE ||
	    name->tokens[i].kind != TOKEN_WORD)
		return i;
	for (size_t k = 0; k < N_OF(inline_namespaces); k++)
		if (token_is(name, i, inline_namespaces[k], strlen(inline_namespaces[k])))
			return is_in_library(name, i) ? i + 2 : i;
	return i;
}

/* ---- patterns ---- */

struct captures {
	char letter[CAPTURES_MAX];
	struct range range[CAPTURES_MAX];
	unsigned n;
};

/* "const T", "T const", "T *const" without the const of the whole; none: empty. */
static struct range strip_const(const struct name *name, struct range r)
{
	if (r.end > r.first + 1 && token_is(name, r.end - 1, "const", 5))
		return (struct range){r.first, r.end - 1};
	if (r.end > r.first + 1 && token_is(name, r.first, "const", 5) &&
	    !token_is(name, r.end - 1, "*", 1))
		return (struct range){r.first + 1, r.end};
	return (struct range){};
}

static unsigned capture_argument(const struct name *name, const char **pattern,
				 unsigned i, unsigned end, bool is_const,
				 struct captures *found)
{
	struct range r = {i, end_of_argument(name, i, end)};
	const char *p = *pattern + 2;

	if (found->n == CAPTURES_MAX || r.end == r.first)
		return UINT32_MAX;
	if (strncmp(p, "...", 3) == 0) {
		p += 3;
		while (r.end < end && token_is(name, r.end, ",", 1))
			r.end = end_of_argument(name, r.end + 1, end);
	}
	i = r.end;
	if (is_const)
		r = strip_const(name, r);
	if (r.end == r.first)
		return UINT32_MAX;
	if (strncmp(p, " *", 2) == 0) {
		p += 2;
		if (r.end < r.first + 2 || !token_is(name, r.end - 1, "*", 1))
			return UINT32_MAX;
		r.end--;
	}
	found->letter[found->n] = (*pattern)[1];
	found->range[found->n++] = r;
	*pattern = p;
	return i;
}

/* One step of a match: the token behind it, UINT32_MAX if it fails. */
static unsigned match_step(const struct name *name, const char **pattern, unsigned i,
			   unsigned end, struct captures *found)
{
	const char *p = *pattern;
	uint8_t kind;
	size_t n;

	if (strncmp(p, "const $", 7) == 0) {
		*pattern += 6;
		return capture_argument(name, pattern, i, end, true, found);
	}
	if (*p == '$')
		return capture_argument(name, pattern, i, end, false, found);
	if (*p == '?') {
		++*pattern;
		n = end_of_argument(name, i, end);
		return n > i ? (unsigned)n : UINT32_MAX;
	}
	if (strncmp(p, ", ...", 5) == 0 || strncmp(p, "...", 3) == 0) {
		*pattern += *p == ',' ? 5 : 3;
		while (i < end && name->tokens[i].kind != TOKEN_CLOSE)
			i = end_of_argument(name, i + 1, end);
		return i;
	}
	i = skip_inline_namespace(name, i, end);
	n = measure_token(p, &kind);
	*pattern += n;
	return i < end && token_is(name, i, p, n) ? i + 1 : UINT32_MAX;
}

/* Returns the token behind the match that begins at i; 0: none. */
static unsigned match_pattern(const struct name *name, const char *pattern, unsigned i,
			      unsigned end, struct captures *found)
{
	*found = (struct captures){};
	while (*pattern) {
		if (*pattern == ' ') {
			pattern++;
			continue;
		}
		i = match_step(name, &pattern, i, end, found);
		if (i == UINT32_MAX)
			return 0;
	}
	if (i < end && is_word_char(pattern[-1]) && opens_arguments(name, i))
		return 0;
	return i;
}

/* The word behind the library's namespace, for "std::…"; else the one at i. */
static unsigned telling_word(const struct name *name, unsigned i, unsigned end)
{
	unsigned next = i + 2;

	if (next >= end || name->tokens[i + 1].kind != TOKEN_SCOPE ||
	    !token_is(name, i, "std", 3))
		return i;
	return skip_inline_namespace(name, next, end);
}

/* Does the pattern begin with the word at i, and with this one behind "std::"? Decides
 * for most. */
static bool may_match(const struct name *name, const char *pattern, unsigned i,
		      unsigned telling)
{
	const struct token *t = &name->tokens[telling];

	if (telling != i) {
		if (strncmp(pattern, "std::", 5) != 0)
			return false;
		pattern += 5;
	}
	return strncmp(pattern, name->text + t->at, t->length) == 0 &&
	       !is_word_char(pattern[t->length]);
}

static const struct name_rule *find_rule(const struct name *name, unsigned i,
					 unsigned end, struct captures *found,
					 unsigned *end_ret)
{
	unsigned telling = telling_word(name, i, end);

	for (size_t k = 0; telling < end && k < RULES; k++) {
		if (!may_match(name, rules[k].pattern, i, telling))
			continue;
		*end_ret = match_pattern(name, rules[k].pattern, i, end, found);
		if (*end_ret)
			return &rules[k];
	}
	return NULL;
}

/* less<void> and the like are no defaults. */
static bool is_default_argument(const struct name *name, struct range r)
{
	unsigned telling = telling_word(name, r.first, r.end);
	struct captures none;

	for (size_t k = 0; telling < r.end && k < N_OF(default_arguments); k++)
		if (may_match(name, default_arguments[k], r.first, telling) &&
		    match_pattern(name, default_arguments[k], r.first, r.end, &none) ==
			    r.end)
			return !(r.end - r.first >= 3 &&
				 token_is(name, r.end - 2, "void", 4) &&
				 !token_is(name, r.end - 4, "allocator", 9));
	return false;
}

/* ---- output ---- */

static void put_name_text(struct name *name, const char *text, size_t n)
{
	if (n > name->size - 1 - name->used)
		n = name->size - 1 - name->used;
	memcpy(name->out + name->used, text, n);
	name->used += n;
	name->out[name->used] = '\0';
}

/* NOLINTBEGIN(misc-no-recursion): as deep as brackets are nested, NESTING_MAX. */
static void put_short_range(struct name *name, struct range r, bool inner);

/* The arguments between the brackets at open. */
static void put_arguments(struct name *name, unsigned open)
{
	unsigned close = name->tokens[open].partner, i = open + 1, kept = i, end;

	/* Behind kept there are defaults only. */
	for (; i < close; i = end + 1) {
		end = end_of_argument(name, i, close);
		if (i == open + 1 || !is_default_argument(name, (struct range){i, end}))
			kept = end;
	}
	name->changed |= kept < close;
	put_name_text(name, "<", 1);
	put_short_range(name, (struct range){open + 1, kept}, true);
	put_name_text(name, ">", 1);
}

static void put_shape(struct name *name, const char *shape, const struct captures *found,
		      bool inner)
{
	if ((inner || name->unqualified) && strncmp(shape, "std::", 5) == 0)
		shape += 5;
	if (name->unqualified && strncmp(shape, "absl::", 6) == 0)
		shape += 6;
	if (name->unqualified && strncmp(shape, "boost::", 7) == 0)
		shape += 7;
	name->changed = true;
	while (*shape) {
		unsigned k = 0;

		while (k < found->n && (shape[0] != '$' || found->letter[k] != shape[1]))
			k++;
		if (k == found->n) {
			put_name_text(name, shape++, 1);
			continue;
		}
		put_short_range(name, found->range[k], true);
		shape += 2;
	}
}

/* "(lambda at /usr/src/deep/a.cc:3:4)" without the directories. */
static unsigned put_unnamed(struct name *name, unsigned open)
{
	unsigned close = name->tokens[open].partner, slash = 0;
	const char *last;

	for (unsigned i = open + 1; i < close; i++)
		if (token_is(name, i, "/", 1))
			slash = i;
	if (!slash || open + 2 >= slash || !token_is(name, open + 2, "at", 2))
		return open;
	name->changed = true;
	put_name_text(name, "(", 1);
	put_name_text(name, name->text + name->tokens[open + 1].at,
		      name->tokens[open + 1].length);
	put_name_text(name, " at ", 4);
	last = name->text + name->tokens[slash + 1].at;
	put_name_text(name, last,
		      (size_t)(name->text + name->tokens[close].at + 1 - last));
	return close + 1;
}

/* A blank in front of a token: as in the name, but none in "Order*>". */
static void put_space(struct name *name, unsigned i, bool inner, bool first)
{
	const struct token *t = &name->tokens[i];
	char last = name->used ? name->out[name->used - 1] : ' ';

	if (first || last == ' ' || last == '<' || last == '(')
		return;
	if (last == ',' || (t->kind == TOKEN_WORD && is_word_char(last))) {
		put_name_text(name, " ", 1);
		return;
	}
	if (t->space && !(inner && strchr("*&>", token_first(name, i))))
		put_name_text(name, " ", 1);
}

/* Behind the "::" of "ns::", "Outer<int>::", "f(int)::" or "{anonymous}::" at i; i: it is
 * the last part of the qualified name. */
static unsigned end_of_scope(const struct name *name, unsigned i, unsigned end)
{
	unsigned next = i;

	if (next < end && name->tokens[next].kind == TOKEN_WORD)
		next++;
	while (next < end && name->tokens[next].kind == TOKEN_OPEN &&
	       !(next > i && name->tokens[next].space))
		next = name->tokens[next].partner + 1u;
	return next > i && next + 1 < end && name->tokens[next].kind == TOKEN_SCOPE
		       ? next + 1
		       : i;
}

/* The qualifiers that are left out at the begin of a qualified name at i. */
static unsigned skip_short_qualifiers(struct name *name, unsigned i, unsigned end,
				      bool inner)
{
	unsigned start = i, next;

	if (inner && i + 1 < end && token_is(name, i, "std", 3) &&
	    name->tokens[i + 1].kind == TOKEN_SCOPE)
		i += 2;
	while ((next = skip_inline_namespace(name, i, end)) != i)
		i = next;
	while (name->unqualified && (next = end_of_scope(name, i, end)) != i)
		i = next;
	name->changed |= i != start;
	return i;
}

/* One token, or a rule's shape, or a bracket with what is in it; returns what is
 * behind. */
static unsigned put_short_token(struct name *name, unsigned i, struct range r, bool inner)
{
	const struct token *t = &name->tokens[i];
	bool starts = (t->kind == TOKEN_WORD || t->kind == TOKEN_OPEN) &&
		      (i == r.first || name->tokens[i - 1].kind != TOKEN_SCOPE);
	const struct name_rule *rule;
	struct captures found;
	unsigned next;

	put_space(name, i, inner, i == r.first);
	rule = starts && t->kind == TOKEN_WORD ? find_rule(name, i, r.end, &found, &next)
					       : NULL;
	if (rule) {
		put_shape(name, rule->shape, &found, inner);
		return next;
	}
	next = starts ? skip_short_qualifiers(name, i, r.end, inner)
		      : skip_inline_namespace(name, i, r.end);
	if (next != i) {
		name->changed = true;
		return next;
	}
	if (t->kind != TOKEN_OPEN) {
		put_name_text(name, name->text + t->at, t->length);
		return i + 1;
	}
	next = put_unnamed(name, i);
	if (next != i)
		return next;
	if (opens_arguments(name, i)) {
		put_arguments(name, i);
	} else {
		put_name_text(name, name->text + t->at, 1);
		put_short_range(name, (struct range){i + 1, t->partner}, inner);
		put_name_text(name, name->text + name->tokens[t->partner].at, 1);
	}
	return t->partner + 1u;
}

static void put_short_range(struct name *name, struct range r, bool inner)
{
	unsigned i = r.first;

	while (i < r.end) {
		unsigned next = put_short_token(name, i, r, inner);

		i = next > i ? next : i + 1;
	}
}

/* NOLINTEND(misc-no-recursion) */

static const char *shorten_name(const char *full, bool unqualified, char *out,
				size_t size)
{
	struct name name;

	if (!full)
		full = "";
	if (size == 0)
		return out;
	name.text = full;
	name.n = 0;
	name.used = 0;
	name.changed = false;
	name.unqualified = unqualified;
	name.out = out;
	name.size = size;
	if (strnlen(full, NAME_BYTES_MAX) < NAME_BYTES_MAX && read_name_tokens(&name))
		put_short_range(&name, (struct range){0, name.n}, unqualified);
	if (!name.changed) {
		name.used = 0;
		put_name_text(&name, full, strlen(full));
	}
	return out;
}

const char *hi_type_short(const char *full, char *out, size_t size)
{
	return shorten_name(full, false, out, size);
}

const char *hi_type_unqualified(const char *full, char *out, size_t size)
{
	return shorten_name(full, true, out, size);
}
