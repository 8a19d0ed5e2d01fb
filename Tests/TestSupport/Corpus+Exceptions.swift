extension Corpus {
    /// The cases whose results differ from the index, with the reasons.
    public static let exceptions: [String: String] = [
        "pkits/SignedValidpathLenConstraintTest14.eml":
            "an authority's certificate signs no mail here (RFC 8550 §4.4.1)",
        "pkits-p12/BadSignedCACert.p12":
            "the signature of its certificate has unused bits, which no signature in DER has",
        "openssl-test/v3-certs-RC2.p12": noKeyPair,
        "openssl-test/v3-certs-TDES.p12": noKeyPair,
        "pyca-p12/cert-aes256cbc-no-key.p12": noKeyPair,
        "pyca-p12/java-truststore.p12": noKeyPair,
        "pyca-p12/no-cert-key-aes256cbc.p12": noKeyPair,
        "pyca-p12/no-cert-name-2-pwd.p12": noKeyPair,
        "pyca-p12/no-cert-name-3-no-pwd.p12": noKeyPair,
        "pyca-p12/no-cert-name-all-no-pwd.p12": noKeyPair,
        "pyca-p12/no-cert-name-all-pwd.p12": noKeyPair,
    ]

    private static let noKeyPair =
        "no key in the file belongs to a certificate in it, so the file contains no identity"
}
