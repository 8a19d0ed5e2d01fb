/// libcrypto's objects of the certificates that one judgement is about.
///
/// Each is made once: libcrypto reads the public key along with a certificate, which takes as long as several signatures.
final class ParsedCertificates {
    /// How many are kept: no path is longer, and those who flood us with authorities fill no memory.
    private static let maximumCount = 2 * PathFinder.maximumDepth

    private var objects: [Fingerprint: Handle<X509>] = [:]

    func x509(_ certificate: Certificate) throws(OpenSSLError) -> Handle<X509> {
        if let known = objects[certificate.fingerprint] { return known }
        let object = try certificate.x509()
        if objects.count < Self.maximumCount { objects[certificate.fingerprint] = object }
        return object
    }
}
