#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/manual.sh BUILD_DIR: the manual pages and completions agree with what the
# program itself says in --help and --help-all, and are read without a warning by mandoc, groff,
# bash and zsh.
set -u
# Neither in the width nor in the language of whoever runs it.
export LANG=C.UTF-8
unset COLUMNS MANWIDTH MANOPT MANPAGER LC_ALL LC_CTYPE LC_MESSAGES LANGUAGE
build=$(cd "$1" && pwd)
manual=$build/manual
wrong=0

wrong() {
	echo "manual: $*" >&2
	wrong=1
}
options_of() { # the long options in the program's own help
	"$build/heapinspect" "$1" --help-all | grep -oE '^ *(-.,)? *--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort -u
}
bash_completes() { # WORD...: what the last of them can become
	bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heapinspect 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"' - "$manual/heapinspect.bash" "$@"
}
zsh_specifies() { # WORD...: the specifications that are given to _arguments
	zsh -fc '_arguments() { print -rl -- "$@"; }; _describe() { print -rl -- $commands; }; _files() { :; }
		file=$1; shift; words=("$@"); CURRENT=$#; f() { source $file; }; f' - "$manual/_heapinspect" "$@"
}

commands=$("$build/heapinspect" --help | sed -n '/^$/,/^Example/p' | grep '^  ' | cut -c3-12 |
	tr -d , | tr -s ' ' '\n' | grep .)
for page in "$manual"/heapinspect-*.1; do
	name=${page##*/heapinspect-}
	grep -qx "${name%.1}" <<<"$commands" || wrong "heapinspect --help does not list ${name%.1}"
done
for command in $commands; do
	page=$manual/heapinspect-$command.1
	[ "$command" = summary ] && page=$manual/heapinspect.1
	[ -s "$page" ] || { wrong "no page of $command"; continue; }
	said=$(mandoc -T lint -W warning "$page" | grep -v 'missing date'; LC_ALL=C.UTF-8 man -l --warnings "$page" 2>&1 >/dev/null)
	[ -z "$said" ] || wrong "$said"
	text=$(LC_ALL=C.UTF-8 MANWIDTH=200 man -l "$page" | col -b)
	completed=$(bash_completes heapinspect "$command" -- | tr -d =)
	specified=$(zsh_specifies heapinspect "$command" -- | grep -oE -e '--[a-z-]+' | sort -u)
	for option in $(options_of "$command"); do
		grep -qE -e "(^|[ ,])$option([=, ]|\$)" <<<"$text" || wrong "$command: $option is not in the page"
		grep -qxF -e "$option" <<<"$completed" || wrong "$command: bash does not complete $option"
		[ "$option" = --usage ] || grep -qxF -e "$option" <<<"$specified" || wrong "$command: zsh does not know $option"
	done
	grep -q '^EXAMPLES' <<<"$text" || wrong "$command: no examples"
	[ "$command" = summary ] || grep -qF "heapinspect-$command(1)" <(LC_ALL=C.UTF-8 man -l "$manual/heapinspect.1") ||
		wrong "heapinspect(1) does not name $command"
	bash_completes heapinspect "${command:0:3}" | grep -qx "$command" || wrong "bash does not complete ${command:0:3}"
	zsh_specifies heapinspect "" | grep -q "^$command:" || wrong "zsh does not know $command"
done

# Sections 5 and 7, out of docs/: readable without a warning, and nothing is left out.
for page in hints.5:HINTS snapshot.5:SNAPSHOT_FORMAT gates.7:GATES query.7:QUERY; do
	file=$manual/heapinspect-${page%:*}
	[ -s "$file" ] || { wrong "no $file"; continue; }
	said=$(mandoc -T lint -W warning "$file" | grep -v 'missing date'; LC_ALL=C.UTF-8 man -l --warnings "$file" 2>&1 >/dev/null)
	[ -z "$said" ] || wrong "$said"
	letters() { tr -cd 'A-Za-z0-9\n' | tr -s '\n' ' ' | tr -d ' '; }
	text=$(MANWIDTH=1000 LC_ALL=C.UTF-8 man --no-hyphenation --no-justification -l "$file" | col -b | tr -d ' \n' | letters)
	while read -r word; do
		word=$(letters <<<"$word")
		grep -qF -- "$word" <<<"$text" || wrong "$file: without '$word'"
	done < <(grep -v '^# ' "$(dirname "$0")/../docs/${page#*:}.md" | grep -oE '`[A-Za-z_.=-]+`' | sort -u)
done

expect() { # WHAT GOT WANTED
	[ "$2" = "$3" ] || wrong "$1: '$2' instead of '$3'"
}
expect "a value behind a space" "$(bash_completes heapinspect census --color al)" always
expect "a value behind =" "$(bash_completes heapinspect census --color = al)" always
expect "a value of nothing yet" "$(bash_completes heapinspect census --color = | tr '\n' ' ')" "auto always never "
expect "an option's beginning" "$(bash_completes heapinspect snap --compr)" --compress
expect "a format of export" "$(bash_completes heapinspect export -f par)" parquet
expect "a format of export by another writer" "$(bash_completes heapinspect export -f sq)" sqlite
expect "a format of check" "$(bash_completes heapinspect check -f mark)" markdown
expect "a format of check that export has" "$(bash_completes heapinspect check -f par)" ""
expect "a format of query" "$(bash_completes heapinspect query -f js)" json
expect "a foreign option" "$(bash_completes heapinspect leaks --compr)" ""
bash_completes heapinspect --pid "$$" | grep -qx "$$" || wrong "no process is completed"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
touch "$dir/a.hisnap" "$dir/b.txt"
expect "a snapshot" "$(bash_completes heapinspect census "$dir/")" "$dir/a.hisnap"
exit $wrong
