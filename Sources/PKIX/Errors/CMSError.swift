package import LibCrypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a cryptographic structure could not be read, written or used.
@nonexhaustive
package enum CMSError: Error, Equatable, Sendable {
    /// The structure that was expected.
    package enum Structure: String, Sendable {
        case certificate = "certificate"
        case certificateList = "certificate revocation list"
        case cms = "CMS object"
        case keyMaterial = "key or certificate file"
        case pem = "PEM file"
        case pkcs12 = "PKCS#12 file"
        case privateKey = "private key"
    }

    /// Decryption failed. For a message, this single case covers the failures after a RecipientInfo was chosen, except limits,
    /// which reveal nothing about the key. It gives no reason, because a reason would be an oracle (RFC 3218).
    case decryptionFailed
    /// The input exceeded a limit that protects against hostile input; the payload names the limit.
    case limitExceeded(String)
    /// The bytes are not a valid encoding of `Structure`; the payload says where the defect is.
    case malformed(Structure, String)
    /// A file contains no private key that belongs to one of its certificates, or a key and a certificate do not match.
    case noKeyPair
    /// libcrypto failed in a way that the caller cannot act on.
    case openSSL(OpenSSLError)
    /// The algorithm or feature that the payload names cannot be used.
    case unsupported(String)
    /// The passphrase does not open the PKCS#12 file or private key.
    case wrongPassphrase
}

extension CMSError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop. The sentence never contains a secret.
    package var description: String {
        switch self {
        case .decryptionFailed: "decryption failed"
        case .limitExceeded(let limit): "rejected, because it exceeds a limit: \(limit)"
        case .malformed(let structure, let detail): "malformed \(structure.rawValue): \(detail)"
        case .noKeyPair: "no private key in it belongs to one of its certificates"
        case .openSSL(let error): error.description
        case .unsupported(let what): "unsupported: \(what)"
        case .wrongPassphrase: "wrong passphrase"
        }
    }
}
