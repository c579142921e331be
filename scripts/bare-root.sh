# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# A clean Debian 12 in a folder, for scripts that try something there as root:
#	. scripts/bare-root.sh
#	enter_own_mounts "$@"	at the start: mounts vanish with the script
#	make_bare_root DIR	its /proc, /dev and apt are ready to use
#	make_suite_root DIR SUITE MIRROR	the same with another distribution
#	make_stocked_root DIR SUITE MIRROR PACKAGE...	that with these packages, as far as
#		the suite has them; services are installed, and not started
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
	prepare_root "$1"
}

# Kept by suite and list of packages; build/bare/SUITE-* must go for newer ones.
make_stocked_root() { # an empty folder, a suite, a mirror, packages
	dir=$1 suite=$2 mirror=$3
	shift 3
	stock=$bare_kept/$suite-$(printf '%s\n' "$@" | cksum | cut -d ' ' -f 1).tar
	if [ -e "$stock" ]; then
		tar -C "$dir" -xf "$stock"
		prepare_root "$dir"
		return
	fi
	make_suite_root "$dir" "$suite" "$mirror" && install_stock "$dir" "$@" || return 1
	tar -C "$dir" --exclude='./proc/*' --exclude='./dev/*' --exclude='./var/cache/apt/archives/*' \
		-cf "$stock.new" . && mv "$stock.new" "$stock"
}

install_stock() { # a root, packages
	stocked=$1
	shift
	in_stocked() { chroot "$stocked" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
	printf '#!/bin/sh\nexit 101\n' >"$stocked/usr/sbin/policy-rc.d"
	chmod 755 "$stocked/usr/sbin/policy-rc.d"
	in_stocked apt-get -qq update >"$bare_kept/log" 2>&1 || { tail -n 20 "$bare_kept/log" >&2; return 1; }
	there=
	for package; do
		case $(in_stocked apt-cache show "$package" 2>/dev/null) in
		*Filename:*) there="$there $package" ;;
		esac
	done
	# shellcheck disable=SC2086
	in_stocked apt-get install -y -q --no-install-recommends $there >"$bare_kept/log" 2>&1 || {
		tail -n 20 "$bare_kept/log" >&2
		return 1
	}
}

prepare_root() {
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
	# It need not survive a loss of power: two fifths of the time of installing packages.
	echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/unsafe-io"
	mount -t proc proc "$1/proc"
	mount --rbind /dev "$1/dev"
	mount --bind "$bare_kept/archives" "$1/var/cache/apt/archives"
}

mounts_below() { # a folder: the innermost first
	awk -v below="$1/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | sort -r
}

# rm would go on into what is mounted from the same file system.
remove_bare_root() {
	mounts_below "$1" | while read -r place; do
		umount -l "$place" 2>/dev/null || true
	done
	if [ -n "$(mounts_below "$1")" ]; then
		echo "$0: $1 still has mounts below it: not removed" >&2
		return 1
	fi
	rm -rf --one-file-system "$1"
}
