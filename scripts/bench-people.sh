#!/usr/bin/env bash
# Makes certificates for the benchmarks of the gateway in the current folder: an authority (ca), two people with accounts (rsa, ec), one to encrypt
# to (reader), and any number of senders to verify (sender1, …). For scripts/bench-gateway and scripts/bench-serve.

# certify NAME ADDRESS KEY…: makes a certificate; KEY is the argument of `openssl req -newkey`.
certify() {
    local name=$1 address=$2
    shift 2
    openssl req "$@" -nodes -keyout "$name.key" -out "$name.csr" -subj "/CN=$name" 2>/dev/null
    printf 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature%s\nextendedKeyUsage=emailProtection\nsubjectAltName=email:%s\n' \
        "$([[ $* == *ec* ]] || echo ,keyEncipherment)" "$address" >extensions
    openssl x509 -req -in "$name.csr" -days 365 -CA ca.pem -CAkey ca.key -CAcreateserial -extfile extensions -out "$name.pem" 2>/dev/null
}
# bundle NAME: the certificate with its key.
bundle() { openssl pkcs12 -export -passout pass:test -inkey "$1.key" -in "$1.pem" -out "$1.p12"; }

# make_people COUNT: makes all of them, with COUNT senders.
make_people() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 3650 -subj "/CN=bench CA" 2>/dev/null
    certify rsa rsa@inside.example -newkey rsa:2048
    certify ec ec@inside.example -newkey ec -pkeyopt ec_paramgen_curve:P-256
    certify reader reader@outside.example -newkey rsa:2048
    certify sender1 sender1@outside.example -newkey rsa:2048
    # All senders have the same key: making many keys would take longer than everything else.
    for ((n = 2; n <= $1; n++)); do certify "sender$n" "sender$n@outside.example" -new -key sender1.key; done
    for name in rsa ec sender1; do bundle "$name"; done
}

# raw COLUMN ALGORITHM: prints microseconds per operation; the column of `openssl speed -mr` has operations per second.
raw() { openssl speed -mr -seconds 2 "$2" 2>/dev/null | awk -F: -v column="$1" '/^\+F[0-9]:/ { printf "%d\n", 1e6 / $column }'; }
