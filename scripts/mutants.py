# SPDX-License-Identifier: BSD-2-Clause
"""Makes mutants of a C file for scripts/mutate: small changes, each of which is wrong.

A mutant changes some tokens in the body of a function. Comments, strings, preprocessor
lines, assertions, enums and the sizes of arrays are left as they are, and nothing that
only frees is dropped: that is found by AddressSanitizer, not by what a test asserts.
"""

import bisect
import collections
import re

Token = collections.namedtuple("Token", "kind text start end")
Mutant = collections.namedtuple("Mutant", "path line column operator start end new old function")

TOKEN = re.compile(
    r"""(?P<skip>\s+|/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n\\]|\\.)*)
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>->|\+\+|--|<<=|>>=|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\.\.\.|\#\#|.)""",
    re.M | re.S | re.X,
)
SWAPPED = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "/": "*", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "++": "--", "--": "++",
    "&&": "||", "||": "&&",
}  # fmt: skip
KINDS = {
    **dict.fromkeys(["<", "<=", ">", ">=", "==", "!="], "comparison"),
    **dict.fromkeys(["&&", "||"], "condition"),
}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
LEFT_ENDS = ASSIGNMENTS | {"&&", "||", ",", ";", "{", "}", "?", ":", "return", "case"}
RIGHT_ENDS = {"&&", "||", ",", ";", "?", ":"}
# Neither begins a statement that can be dropped.
KEYWORDS = set(
    """if else for while do switch case default return goto sizeof typedef static const
    struct union enum unsigned signed int char short long float double void bool volatile
    register extern inline _Atomic _Noreturn _Thread_local typeof asm __asm__ static_assert
    _Static_assert assert""".split()
)
UNTOUCHED = {"static_assert", "_Static_assert", "assert", "sizeof", "offsetof", "typeof",
             "__attribute__", "asm", "__asm__", "_Alignof", "alignof", "__builtin_expect",
             "HI_GUARD", "HI_VECTOR"}  # fmt: skip
TYPE_WORD = re.compile(
    r"^(?:struct|union|enum|unsigned|signed|int|char|short|long|bool|float|double|void|const|\w+_t)$"
)
FREES = re.compile(r"free|_destroy|_deinit|_close|^close|munmap|_release|va_end|unlock$")
INTEGER = re.compile(r"(0[xX])?([0-9a-fA-F']+)([uUlL]*)$")


def read_tokens(text):
    tokens = []
    for match in TOKEN.finditer(text):
        if match.lastgroup != "skip":
            tokens.append(Token(match.lastgroup, match[0], match.start(), match.end()))
    return tokens


class Source:
    """One file: its tokens, and which bracket belongs to which."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = read_tokens(text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.partner, self.inside = {}, []
        self.function = ""
        stack = []
        for i, token in enumerate(self.tokens):
            if token.text in (")", "]", "}") and token.kind == "sign" and stack:
                self.partner[i] = stack.pop()
                self.partner[self.partner[i]] = i
            self.inside.append(stack[-1] if stack else None)
            if token.text in ("(", "[", "{") and token.kind == "sign":
                stack.append(i)

    def word(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def old(self, first, last):
        """The text of the tokens first to last."""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def change(self, operator, first, last, new):
        start, end = self.tokens[first].start, self.tokens[last].end
        line = bisect.bisect(self.starts, start)
        column = start - self.starts[line - 1] + 1
        old = self.old(first, last)
        return Mutant(self.path, line, column, operator, start, end, new, old, self.function)

    def functions(self):
        """Yields (first and last token of the body, words of the returned type)."""
        for i, token in enumerate(self.tokens):
            if token.text == "{" and self.inside[i] is None and self.word(i - 1) == ")":
                name = self.partner[i - 1] - 1
                self.function = self.word(name)
                words, at = [], name - 1
                while at >= 0 and (self.tokens[at].kind == "name" or self.word(at) == "*"):
                    words.append(self.word(at))
                    at -= 1
                yield i, self.partner[i], words

    def untouched(self, first, last):
        """The tokens of this body that stay as they are."""
        left = set()
        for i in range(first, last):
            word = self.word(i)
            if word in UNTOUCHED and self.word(i + 1) == "(":
                left.update(range(i, self.partner[i + 1] + 1))
            elif word == "enum":
                brace = i + 1 if self.word(i + 1) == "{" else i + 2
                if self.word(brace) == "{":
                    left.update(range(i, self.partner[brace] + 1))
            elif word == "[" and self.is_array_size(i):
                left.update(range(i, self.partner[i] + 1))
        return left

    def is_array_size(self, i):
        before = i - 1
        while self.word(before) == "]":
            before = self.partner[before] - 1
        return self.tokens[before].kind == "name" and (
            self.tokens[before - 1].kind == "name"
            and self.word(before - 1) not in ("return", "else", "case")
            or self.word(before - 1) in ("*", ",")
            and self.word(self.partner[i] + 1) in (";", ",", "=", "[")
            and self.word(self.inside[i] or 0) == "{"
            and self.is_declaration(before)
        )

    def is_declaration(self, i):
        while i > 0 and self.word(i - 1) not in (";", "{", "}"):
            i -= 1
        return self.word(i) in KEYWORDS or self.tokens[i + 1].kind == "name"

    def is_binary(self, i):
        """Has the sign at i an operand on its left?"""
        before = self.tokens[i - 1]
        if before.text == ")":
            opening = self.partner[i - 1]
            if self.word(opening - 1) in ("sizeof", "if", "while", "for", "switch"):
                return self.word(opening - 1) == "sizeof"
            if self.tokens[opening - 1].kind == "name" and self.word(opening - 1) != "return":
                return True  # a call
            return not (TYPE_WORD.match(self.word(opening + 1)) or self.word(i - 2) == "*")
        return before.text == "]" or before.kind in ("number", "string") or (
            before.kind == "name" and before.text not in KEYWORDS
        )


def find_left(source, i):
    """The first token of the operand on the left of i."""
    i -= 1
    while True:
        word = source.word(i)
        if word in (")", "]", "}"):
            i = source.partner[i]
        if word in LEFT_ENDS or word in ("(", "[", "{"):
            return i + 1
        i -= 1


def find_right(source, i):
    """The last token of the operand on the right of i."""
    i += 1
    while source.word(i) not in RIGHT_ENDS and source.word(i) not in (")", "]", "}"):
        if source.word(i) in ("(", "[", "{"):
            i = source.partner[i]
        i += 1
    return i - 1


def mutate_condition(source, i):
    """An if or a while, and its whole condition."""
    if source.word(i) not in ("if", "while") or source.word(i + 1) != "(":
        return
    first, last = i + 2, source.partner[i + 1] - 1
    old = source.old(first, last)
    # The same is made of its sign otherwise.
    if re.search(r"&&|\|\|", old) or not re.search("^!|[!=]=", old):
        yield source.change("condition", first, last, f"!({old})")
    yield source.change("condition", first, last, f"false && ({old})")
    if source.word(i) == "if":
        yield source.change("condition", first, last, f"true || ({old})")


def mutate_sign(source, i):
    word = source.word(i)
    if word == "!" and not (source.word(i - 1) == ")" and source.word(i - 2) == "void"):
        yield source.change("condition", i, i, "")
    if word not in SWAPPED:
        return
    if word in ("+", "-", "&", "|", "/") and not source.is_binary(i):
        return
    yield source.change(KINDS.get(word, "arithmetic"), i, i, SWAPPED[word])
    if word in ("&&", "||"):
        yield source.change("condition", find_left(source, i), i, "")
        yield source.change("condition", i, find_right(source, i), "")


def mutate_constant(source, i):
    token = source.tokens[i]
    if token.text in ("true", "false"):
        yield source.change("constant", i, i, "false" if token.text == "true" else "true")
    match = INTEGER.match(token.text) if token.kind == "number" else None
    if not match or (source.word(i - 1) == "{" and source.word(i + 1) == "}"):
        return
    if not match[1] and re.search("[a-fA-F.]", match[2]):
        return
    value = int(match[2].replace("'", ""), 16 if match[1] else 10) if match[1] or not re.match(
        "0[0-7]", match[2]) else int(match[2], 8)  # fmt: skip
    new = 0 if value == 1 else value + 1
    yield source.change("constant", i, i, (hex(new) if match[1] else str(new)) + match[3])


def is_statement_start(source, i):
    if source.word(source.inside[i] if source.inside[i] is not None else -1) != "{":
        return False
    before = source.word(i - 1)
    if before == ")":
        return source.word(source.partner[i - 1] - 1) in ("if", "for", "while", "switch")
    return before in (";", "{", "}", "else", "do", ":")


def mutate_statement(source, i):
    """Drops a call, an assignment, a break or a continue."""
    if not is_statement_start(source, i) or source.word(i) in ("{", "}", ";"):
        return
    end, assigns = i, False
    while source.word(end) not in (";", "}", ""):
        assigns = assigns or source.word(end) in ASSIGNMENTS | {"++", "--"}
        end = source.partner[end] + 1 if source.word(end) in ("(", "[", "{") else end + 1
    if source.word(end) != ";" or end == i:
        return
    first = i + 3 if source.word(i) == "(" and source.word(i + 1) == "void" else i
    name, follows = source.tokens[first], source.word(first + 1)
    if name.text in KEYWORDS or (name.kind == "name" and follows == "*"):
        return
    if name.kind == "name" and source.tokens[first + 1].kind == "name":
        return  # a declaration
    is_call = name.kind == "name" and follows == "(" and source.partner[first + 1] + 1 == end
    if is_call and (FREES.search(name.text) or name.text in UNTOUCHED):
        return
    if name.text in UNTOUCHED or not (is_call or assigns or name.text in ("break", "continue")):
        return
    yield source.change("statement", i, end, ";")


def mutate_return(source, i, kinds):
    if source.word(i) != "return" or source.word(i + 1) == ";":
        return
    first = last = i + 1
    while source.word(last) != ";":
        last = source.partner[last] + 1 if source.word(last) in ("(", "[", "{") else last + 1
    last -= 1
    old = source.old(first, last)
    if "*" in kinds:
        new = None if old == "NULL" else "NULL"
    elif "hi_status" in kinds:
        new = "HI_BAD_DATA" if old == "HI_OK" else f"(({old}), HI_OK)"
    elif "bool" in kinds:
        new = None if old in ("true", "false") else f"!({old})"
    elif any(re.match(r"u?int\d+_t|size_t|ssize_t|int|unsigned|long|hi_node", k) for k in kinds):
        new = None if source.tokens[first].kind == "number" and first == last else f"({old}) + 1"
    else:
        new = None
    if new:
        yield source.change("return", first, last, new)


def make_mutants(path, text):
    """All mutants of a file, in its order."""
    source = Source(path, text)
    found = []
    for first, last, kinds in source.functions():
        untouched = source.untouched(first, last)
        for i in range(first + 1, last):
            if i in untouched or source.tokens[i].kind == "string":
                continue
            found += mutate_condition(source, i)
            found += mutate_sign(source, i)
            found += mutate_constant(source, i)
            found += mutate_statement(source, i)
            found += mutate_return(source, i, kinds)
    return found


def apply_mutant(text, mutant):
    return text[: mutant.start] + mutant.new + text[mutant.end :]
