# Sourced by the scripts beside it: the top folder, messages, and what has to be installed.
# shellcheck shell=bash
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BUILD_PACKAGES=(pkg-config libssl-dev libsqlite3-dev libidn2-dev zlib1g-dev)
readonly TOOL_PACKAGES=(openssl gpgsm libnss3-tools neomutt tmux sqlite3 time xxd strace faketime postfix postgresql slapd bind9
    bind9-utils dns-root-data libunbound8 swaks miltertest python3 mandoc zsh fish bash-completion)

complain() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# need PACKAGE…: installs the Debian packages that are not there, if it may; says which ones are wanted if it may not.
need() {
    local missing=() package as=()
    if ! command -v dpkg-query >/dev/null; then
        command -v pkg-config >/dev/null || complain "not a Debian: see CONTRIBUTING.md for what has to be installed"
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
    # The tests run a Postfix of their own; the one of the system must not begin to listen because of them.
    [[ " ${missing[*]} " != *" postfix "* ]] ||
        "${as[@]}" debconf-set-selections <<<'postfix postfix/main_mailer_type select No configuration'
    # Nor is there a directory or a database of the system.
    [[ " ${missing[*]} " != *" slapd "* ]] ||
        "${as[@]}" debconf-set-selections <<<'slapd slapd/no_configuration boolean true'
    [[ " ${missing[*]} " != *" postgresql "* || -e /etc/postgresql-common/createcluster.conf ]] ||
        "${as[@]}" install -D -m 644 /dev/stdin /etc/postgresql-common/createcluster.conf <<<'create_main_cluster = false'
    "${as[@]}" "${quiet[@]}" install --no-install-recommends -y "${missing[@]}" >/dev/null 2>&1 || {
        "${as[@]}" "${quiet[@]}" update >/dev/null
        "${as[@]}" "${quiet[@]}" install --no-install-recommends -y "${missing[@]}" >/dev/null
    }
    # The tests run a name server of their own, too.
    [[ " ${missing[*]} " != *" bind9 "* ]] || "${as[@]}" systemctl disable --now named >/dev/null 2>&1 || true
}

# fetch FOLDER PACKAGE…: Debian packages as files in a folder, where they may be had; prints the folder's path.
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

# Package.swift makes warnings errors where this is set.
export SMIME_STRICT=1

# What every build has, the tested one and the delivered one. Functions are bound when a program starts (packaging/toolset.json): the
# dynamic linker, if it binds one at its first call, saves vector registers on the stack, and a secret may be in them. Libraries are
# not looked for beside the program.
BUILD_FLAGS=(--toolset "$PWD/packaging/toolset.json" --disable-local-rpath)
readonly BUILD_FLAGS

# release PRODUCT [OPTION OF swift build]…: builds it as it is delivered, and prints where it is.
release() {
    local flags=("${BUILD_FLAGS[@]}" -c release --static-swift-stdlib --product "$@")
    swift build "${flags[@]}" >&2 </dev/null
    echo "$(swift build "${flags[@]}" --show-bin-path)/$1"
}
