/// The part of a PKCS#12 file's structure that is readable without the passphrase.
package struct PKCS12Outline: Sendable {
    /// One part of the file.
    package struct Part: Hashable, Sendable {
        /// The encryption of the part, such as `AES-256, PBKDF2 with SHA2-256, 2048 iterations`, or `unsupported: ` and the
        /// reason; nil if the part is not encrypted.
        package let encryption: String?
        /// The number of bags of each kind: `certificates`, `revocation lists`, `keys`, `encrypted keys`, `others`. Empty if
        /// the part is encrypted or unsupported.
        package let bags: [String: Int]
        /// The encryption of each key in a readable part.
        package let keyEncryptions: [String]
    }

    /// The MAC algorithm of the file; nil if the file has no MAC.
    package let mac: String?
    /// The ContentInfos of the file in order. Each ContentInfo is either encrypted as a whole or not encrypted.
    package let parts: [Part]
    /// Whether other bytes follow the structure.
    package let hasTrailingBytes: Bool

    /// Reads the structure of a file in BER, DER or PEM, without deriving or decrypting anything.
    package init(_ bytes: [UInt8]) throws(CMSError) {
        let pfx = try parsing(.pkcs12) { try PFX(try PKCS12.unarmored(bytes)) }
        mac = pfx.mac?.algorithm.description
        hasTrailingBytes = pfx.hasTrailingBytes
        parts = pfx.safes.map { Part($0) }
    }
}

extension PKCS12Outline.Part {
    fileprivate init(_ safe: PFX.Safe) {
        var counted: [String: Int] = [:]
        var keys: [String] = []
        switch safe {
        case .encrypted(let scheme, _): encryption = scheme.description
        case .unsupported(let name): encryption = "unsupported: \(name)"
        case .plain(let bags):
            encryption = nil
            Self.count(bags, &counted, keys: &keys)
        }
        self.bags = counted
        keyEncryptions = keys
    }

    private static func count(_ bags: [SafeBag], _ counted: inout [String: Int], keys: inout [String]) {
        for bag in bags {
            switch bag.content {
            case .bags(let inner): count(inner, &counted, keys: &keys)
            case .certificate: counted["certificates", default: 0] += 1
            case .certificateList: counted["revocation lists", default: 0] += 1
            case .encryptedKey(let scheme, _):
                counted["encrypted keys", default: 0] += 1
                keys.append(scheme.description)
            case .key: counted["keys", default: 0] += 1
            case .unsupported: counted["others", default: 0] += 1
            }
        }
    }
}

extension PKCS12MAC.Algorithm: CustomStringConvertible {
    package var description: String {
        switch self {
        case .hmac(let digest, _, _, let iterations):
            "HMAC-\(digest.replacing("SHA2-", with: "SHA")), \(iterations) iterations"
        case .pbmac1(let function, let digest, _): "PBMAC1 with HMAC \(digest), \(function)"
        }
    }
}

extension KeyDerivation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .pbkdf2(_, let iterations, _, let digest): "PBKDF2 with \(digest), \(iterations) iterations"
        case .scrypt(_, let cost, let blockSize, let parallelization, _):
            "scrypt with N \(cost), r \(blockSize), p \(parallelization)"
        }
    }
}

extension PasswordEncryption: CustomStringConvertible {
    var description: String {
        switch derivation {
        case .pbes1(let digest, _, let iterations): "\(cipher.name), PBES1 with \(digest), \(iterations) iterations"
        case .pbes2(let function, _): "\(cipher.name), \(function)"
        case .pkcs12(_, let iterations): "\(cipher.name), PKCS#12 with SHA-1, \(iterations) iterations"
        }
    }
}
