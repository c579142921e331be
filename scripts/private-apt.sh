# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# apt with lists and a cache of its own, for scripts that build Debian's source packages:
#	. scripts/private-apt.sh
#	make_private_apt DIR [SUITE...]		sets $options, for apt-get and apt-cache
# Its sources are derived from the machine's, with source packages, and with these
# suites of the same archive beside the machine's own. Nothing of the machine's is changed.

# Of a stanza of Debian's archive itself, that of updates and security left out.
add_suites() { # deb822 on stdin; suites
	awk -v suites="$*" 'BEGIN { RS = ""; ORS = "\n\n" }
		!/-security/ {
			sub(/Types:[^\n]*/, "Types: deb deb-src")
			sub(/Suites:[^\n]*/, "Suites: " suites)
			print
		}'
}

make_private_apt() { # directory, more suites
	apt=$1
	shift
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/sources.d"
	for list in /etc/apt/sources.list.d/*.sources; do
		[ -e "$list" ] || continue
		name=$(basename "$list" .sources)
		sed 's/^Types:.*/Types: deb deb-src/' "$list" >"$apt/sources.d/$name.sources"
		for suite in "$@"; do
			sed '/^#/d' "$list" | add_suites "$suite" >"$apt/sources.d/$name-$suite.sources"
		done
	done
	: >"$apt/sources.list"
	if [ -e /etc/apt/sources.list ]; then
		sed -n 's/^deb\([[:space:]]\)/deb-src\1/p' /etc/apt/sources.list >"$apt/sources.list"
		sed -n '/^deb[[:space:]]/p' /etc/apt/sources.list >>"$apt/sources.list"
		: >"$apt/more.list"
		codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
		for suite in "$@"; do
			sed -n "s/^\(deb[^[:space:]]*[[:space:]].*[[:space:]]\)$codename\([[:space:]]\)/\1$suite\2/p" \
				"$apt/sources.list" >>"$apt/more.list"
		done
		cat "$apt/more.list" >>"$apt/sources.list"
	fi
	options="-o Dir::Etc::SourceList=$apt/sources.list -o Dir::Etc::SourceParts=$apt/sources.d
	 -o Dir::State::Lists=$apt/lists -o Dir::Cache=$apt/cache -o APT::Sandbox::User=root"
}
