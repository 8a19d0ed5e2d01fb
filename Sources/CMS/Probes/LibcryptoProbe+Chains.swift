import COpenSSL
import Foundation

extension LibcryptoProbe {
    /// How chains are verified. CVE-2023-0465 is among them: before OpenSSL 3.0.9 nobody heard of wrong policies in a leaf.
    static let chains = [
        chain("sound-chain", finds: nil, "a sound chain is accepted", "a sound chain is refused"),
        chain(
            "name-constraints",
            authority: [
                ProbeChain.Extension(
                    "2.5.29.30",
                    [0x30, 0x11, 0xA0, 0x0F, 0x30, 0x0D, 0x81, 0x0B] + Array("example.org".utf8)
                )
            ],
            leaf: [ProbeChain.Extension("2.5.29.17", [0x30, 0x0D, 0x81, 0x0B] + Array("a@evil.test".utf8))],
            finds: X509_V_ERR_PERMITTED_VIOLATION,
            "an address that the authority may not name is refused",
            "an address that the authority may not name is not refused"
        ),
        chain(
            "critical-extension",
            leaf: [ProbeChain.Extension("1.2.3.4", [0x05, 0x00], isCritical: true)],
            finds: X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION,
            "an unknown critical extension is refused",
            "an unknown critical extension is not refused"
        ),
        chain(
            "leaf-as-authority",
            isAuthority: false,
            finds: X509_V_ERR_INVALID_CA,
            "an issuer that is no authority is refused",
            "an issuer that is no authority is not refused"
        ),
        chain(
            "certificate-policies",
            leaf: [
                ProbeChain.Extension(
                    "2.5.29.32",
                    [0x30, 0x0E, 0x30, 0x05, 6, 3, 0x2A, 3, 4, 0x30, 0x05, 6, 3, 0x2A, 3, 4]
                )
            ],
            finds: X509_V_ERR_INVALID_POLICY_EXTENSION,
            "wrong certificate policies are refused",
            "wrong certificate policies are not refused (CVE-2023-0465)"
        ),
    ]

    /// - Parameter finds: the error that verification must come to; nil for none at all.
    private static func chain(
        _ code: String,
        isAuthority: Bool = true,
        authority: [ProbeChain.Extension] = [],
        leaf: [ProbeChain.Extension] = [],
        finds expected: CInt?,
        _ passed: String,
        _ failed: String
    ) -> LibcryptoProbe {
        LibcryptoProbe(code) {
            let constraints: [UInt8] = isAuthority ? [0x30, 3, 1, 1, 0xFF] : [0x30, 0]
            let basic = ProbeChain.Extension("2.5.29.19", constraints, isCritical: true)
            let chain = try ProbeChain(authority: [basic] + authority, leaf: leaf)
            let codes =
                try PathVerification
                .verify([chain.leaf, chain.authority], at: .now).map(\.code)
            let isRight = expected.map(codes.contains) ?? codes.isEmpty
            return isRight ? .passed(passed) : .failed(failed)
        }
    }
}

/// An authority and a certificate below it, made on the spot to hear what libcrypto thinks of them.
struct ProbeChain {
    /// An extension of a certificate: an OID and the DER of its value.
    struct Extension {
        let identifier: String
        let value: [UInt8]
        let isCritical: Bool

        init(_ identifier: String, _ value: [UInt8], isCritical: Bool = false) {
            (self.identifier, self.value, self.isCritical) = (identifier, value, isCritical)
        }
    }

    let leaf, authority: Certificate

    init(authority: [Extension], leaf: [Extension]) throws {
        let key = try LibcryptoProbe.makeKey("EC")
        self.authority = try Self.certificate("Probe CA", 1, authority, key)
        self.leaf = try Self.certificate("Probe", 2, leaf, key)
    }

    /// A certificate by "Probe CA", valid for an hour around now; all of them are about one key.
    ///
    /// libcrypto: `X509_sign`
    private static func certificate(
        _ name: String,
        _ serial: Int,
        _ extensions: [Extension],
        _ key: Handle<EVP_PKEY>
    ) throws -> Certificate {
        let certificate = try Owned<X509>(X509_new(), "X509_new")
        return try withPointers(certificate, key.owned) { certificate, key in
            try check(X509_set_version(certificate, 2), "X509_set_version")
            try check(ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial), "ASN1_INTEGER_set")
            X509_gmtime_adj(X509_getm_notBefore(certificate), -1800)
            X509_gmtime_adj(X509_getm_notAfter(certificate), 1800)
            try setName(name, of: X509_get_subject_name(certificate))
            try setName("Probe CA", of: X509_get_issuer_name(certificate))
            try check(X509_set_pubkey(certificate, key), "X509_set_pubkey")
            for item in extensions { try add(item, to: certificate) }
            try check(X509_sign(certificate, key, EVP_sha256()), "X509_sign")
            var encoding: UnsafeMutablePointer<UInt8>?
            let count = i2d_X509(certificate, &encoding)
            defer { smime_OPENSSL_free(encoding) }
            try check(count, "i2d_X509")
            return try Certificate(der: Array(UnsafeBufferPointer(start: encoding, count: Int(count))))
        }
    }

    private static func setName(_ text: String, of name: OpaquePointer?) throws(OpenSSLError) {
        let result = X509_NAME_add_entry_by_txt(name, "CN", V_ASN1_UTF8STRING, text, -1, -1, 0)
        try check(result, "X509_NAME_add_entry_by_txt")
    }

    private static func add(_ item: Extension, to certificate: OpaquePointer) throws(OpenSSLError) {
        guard let identifier = OBJ_txt2obj(item.identifier, 1) else { throw OpenSSLError("OBJ_txt2obj") }
        defer { ASN1_OBJECT_free(identifier) }
        guard let octets = ASN1_OCTET_STRING_new() else { throw OpenSSLError("ASN1_OCTET_STRING_new") }
        defer { ASN1_OCTET_STRING_free(octets) }
        try check(ASN1_OCTET_STRING_set(octets, item.value, CInt(item.value.count)), "ASN1_OCTET_STRING_set")
        let made = X509_EXTENSION_create_by_OBJ(nil, identifier, item.isCritical ? 1 : 0, octets)
        guard let made else { throw OpenSSLError("X509_EXTENSION_create_by_OBJ") }
        defer { X509_EXTENSION_free(made) }
        try check(X509_add_ext(certificate, made, -1), "X509_add_ext")
    }
}
