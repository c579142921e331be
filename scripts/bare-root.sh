# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# A clean Debian 12 in a folder, for scripts that try something there as root:
#	. scripts/bare-root.sh
#	enter_own_mounts "$@"	at the start: mounts vanish with the script
#	make_bare_root DIR	its /proc, /dev and apt are ready to use
#	make_suite_root DIR SUITE MIRROR	the same with another distribution
#	remove_bare_root DIR	before every exit
# The first one is debootstrap's, kept in build/bare for the others; packages that
# apt-get fetches in one are there for the next.

bare_kept=$(pwd)/build/bare

enter_own_mounts() {
	[ "$(id -u)" = 0 ] || { echo "$0: needs root" >&2; exit 1; }
	command -v debootstrap >/dev/null || { echo "$0: debootstrap is missing" >&2; exit 1; }
	[ -z "${HI_OWN_MOUNTS:-}" ] || return 0
	HI_OWN_MOUNTS=1 exec unshare --mount --propagation slave "$0" "$@"
}

# From where this machine itself installs.
find_mirror() {
	apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(CODENAME)' |
		awk '$1 == "Packages" && $3 == "bookworm" { print $2; exit }'
}

bootstrap() { # a folder, a suite, a mirror
	[ -n "$3" ] || { echo "$0: no $2 among apt's sources" >&2; return 1; }
	debootstrap --variant=minbase "$2" "$1" "$3" >"$bare_kept/log" 2>&1 || {
		tail -n 20 "$bare_kept/log" >&2
		return 1
	}
	rm -f "$1"/var/cache/apt/archives/*.deb
	tar -C "$1" -cf "$bare_kept/root.new" . && mv "$bare_kept/root.new" "$bare_kept/$2.tar"
}

make_bare_root() { # an empty folder
	make_suite_root "$1" bookworm "$(find_mirror)"
}

make_suite_root() { # an empty folder, a suite, a mirror
	mkdir -p "$bare_kept/archives/partial"
	if [ -e "$bare_kept/$2.tar" ]; then
		tar -C "$1" -xf "$bare_kept/$2.tar"
	else
		bootstrap "$1" "$2" "$3" || return 1
	fi
	# mktemp -d made it for its owner alone; other users live in it, too.
	chmod 755 "$1"
	# Proxies and the like of this machine's apt, but not what empties the cache.
	for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
		case $file in
		*/docker-clean) ;;
		*) [ ! -f "$file" ] || cp --parents "$file" "$1" ;;
		esac
	done
	cp /etc/resolv.conf /etc/hosts "$1/etc/" 2>/dev/null || true
	mount -t proc proc "$1/proc"
	mount --rbind /dev "$1/dev"
	mount --bind "$bare_kept/archives" "$1/var/cache/apt/archives"
}

remove_bare_root() {
	for place in proc dev var/cache/apt/archives; do
		umount -R -l "$1/$place" 2>/dev/null || true
	done
	rm -rf --one-file-system "$1"
}
