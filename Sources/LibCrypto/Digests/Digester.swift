import ByteStreams
import COpenSSL
import Synchronization

/// The computation of a message digest.
///
/// libcrypto: `EVP_DigestInit_ex2`, `EVP_DigestUpdate`, `EVP_DigestFinal_ex`, `EVP_DigestFinalXOF`
package final class Digester {
    package let algorithm: DigestAlgorithm
    private let context: Owned<EVP_MD_CTX>
    /// The smallest number of bytes for which the time of an update is measured.
    private static let measured = 512

    package init(_ algorithm: DigestAlgorithm) throws(OpenSSLError) {
        Libcrypto.start()
        self.algorithm = algorithm
        let digest = try algorithm.fetched()
        let context = try Owned<EVP_MD_CTX>(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        try withPointers(context, digest.owned) { context, digest throws(OpenSSLError) in
            try check(EVP_DigestInit_ex2(context, digest, nil), "EVP_DigestInit_ex2")
        }
        self.context = context
    }

    /// Adds the next bytes.
    package func update(_ bytes: Span<UInt8>) throws(OpenSSLError) {
        // For a short text, reading the clock would take a considerable part of the time of the digest.
        let start = bytes.count < Self.measured ? nil : ContinuousClock.now
        defer { if let start { CryptoTime.count(.digest, since: start) } }
        try context.withPointer { context throws(OpenSSLError) in
            let result = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
            try check(result, "EVP_DigestUpdate")
        }
    }

    /// The digest of all bytes. Afterwards the digester accepts no more bytes.
    package func finish() throws(OpenSSLError) -> [UInt8] {
        try context.withPointer { context throws(OpenSSLError) in
            var value = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            guard algorithm != .shake256 else {
                try check(EVP_DigestFinalXOF(context, &value, algorithm.byteCount), "EVP_DigestFinalXOF")
                return Array(value.prefix(algorithm.byteCount))
            }
            var count: UInt32 = 0
            try check(EVP_DigestFinal_ex(context, &value, &count), "EVP_DigestFinal_ex")
            return Array(value.prefix(Int(count)))
        }
    }
}

extension DigestAlgorithm {
    private static let known = Mutex<[(algorithm: DigestAlgorithm, digest: Handle<EVP_MD>)]>([])

    /// libcrypto's implementation of this digest, fetched once per process, because fetching takes longer than digesting a
    /// short text.
    ///
    /// libcrypto: `EVP_MD_fetch`
    func fetched() throws(OpenSSLError) -> Handle<EVP_MD> {
        if let known = Self.known.withLock({ $0.first { $0.algorithm == self } }) { return known.digest }
        let digest = Handle(try Owned<EVP_MD>(EVP_MD_fetch(nil, libcryptoName, nil), "EVP_MD_fetch"))
        Self.known.withLock { $0.append((self, digest)) }
        return digest
    }

    /// The digest of `bytes`.
    package func digest(_ bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] { try digest(bytes.octets) }

    /// The digest of `bytes`, computed without copying them.
    package func digest(_ bytes: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let digester = try Digester(self)
        try digester.update(bytes)
        return try digester.finish()
    }
}
