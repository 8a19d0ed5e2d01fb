# Sourced by the other scripts: changes to the top folder, prints messages, and installs packages.
# shellcheck shell=bash
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BUILD_PACKAGES=(pkg-config libssl-dev libsqlite3-dev libidn2-dev zlib1g-dev)
readonly TOOL_PACKAGES=(openssl gpgsm libnss3-tools neomutt tmux sqlite3 time xxd strace faketime postfix postgresql slapd bind9
    bind9-utils dns-root-data libunbound8 swaks miltertest curl iproute2 nftables adduser python3 mandoc zsh fish bash-completion)

complain() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# need PACKAGE…: installs missing Debian packages, or names them if it is not allowed to install.
need() {
    local missing=() package as=()
    if ! command -v dpkg-query >/dev/null; then
        command -v pkg-config >/dev/null || complain "this system is not Debian: CONTRIBUTING.md lists what must be installed"
        return 0
    fi
    for package in "$@"; do
        [[ $(dpkg-query -Wf '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    [[ ${#missing[@]} -eq 0 ]] && return
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null || { complain "please run: sudo apt-get install ${missing[*]}"; exit 69; }
        as=(sudo -n)
    fi
    complain "installing ${missing[*]}"
    local quiet=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
    # The tests run their own Postfix; the system's Postfix must not start listening.
    [[ " ${missing[*]} " != *" postfix "* ]] ||
        "${as[@]}" debconf-set-selections <<<'postfix postfix/main_mailer_type select No configuration'
    # The same holds for the system's directory and database servers.
    [[ " ${missing[*]} " != *" slapd "* ]] ||
        "${as[@]}" debconf-set-selections <<<'slapd slapd/no_configuration boolean true'
    [[ " ${missing[*]} " != *" postgresql "* || -e /etc/postgresql-common/createcluster.conf ]] ||
        "${as[@]}" install -D -m 644 /dev/stdin /etc/postgresql-common/createcluster.conf <<<'create_main_cluster = false'
    "${as[@]}" "${quiet[@]}" install --no-install-recommends -y "${missing[@]}" >/dev/null 2>&1 || {
        "${as[@]}" "${quiet[@]}" update >/dev/null
        "${as[@]}" "${quiet[@]}" install --no-install-recommends -y "${missing[@]}" >/dev/null
    }
    # The tests run their own name server as well.
    [[ " ${missing[*]} " != *" bind9 "* ]] || "${as[@]}" systemctl disable --now named >/dev/null 2>&1 || true
}

# fetch FOLDER PACKAGE…: downloads Debian packages into a folder, if possible; prints the folder's path.
fetch() {
    local folder=$1 package missing=()
    shift
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    for package in "$@"; do compgen -G "$folder/${package}_*.deb" >/dev/null || missing+=("$package"); done
    if ((${#missing[@]})); then
        command -v apt-get >/dev/null || return
        (cd "$folder" && apt-get -qq download "${missing[@]}") >/dev/null 2>&1 || {
            ((EUID)) || apt-get -qq update >/dev/null 2>&1
            (cd "$folder" && apt-get -qq download "${missing[@]}") >/dev/null 2>&1 || return
        }
    fi
    echo "$folder"
}

need_swift() {
    command -v swift >/dev/null || { complain "Swift 6.2.3 or later is needed: https://www.swift.org/install"; exit 69; }
}

# If this is set, Package.swift treats warnings as errors.
export SMIME_STRICT=1

# Options of every build, tested or delivered.
#
# packaging/toolset.json: functions are bound when a program starts. If the dynamic linker bound a function at its first call, it
# would save vector registers, and possibly secrets, on the stack. The program exports no symbols, so that the loader reads no table
# of them. packaging/toolset-relr.json: relocations are packed, which saves 3 MB of memory in each process; glibc can do so from 2.36 on.
# Libraries are not searched for beside the program.
BUILD_FLAGS=(--toolset "$PWD/packaging/toolset.json" --disable-local-rpath)
if printf '%s\n' "glibc 2.36" "$(getconf GNU_LIBC_VERSION 2>/dev/null)" | sort -VC; then
    BUILD_FLAGS+=(--toolset "$PWD/packaging/toolset-relr.json")
fi
readonly BUILD_FLAGS

# release PRODUCT [OPTION OF swift build]…: builds the product for delivery and prints its path.
release() {
    local flags=("${BUILD_FLAGS[@]}" -c release --static-swift-stdlib --product "$@")
    swift build "${flags[@]}" >&2 </dev/null
    echo "$(swift build "${flags[@]}" --show-bin-path)/$1"
}
