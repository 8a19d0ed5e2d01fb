import ByteStreams
import LibCrypto
import SwiftASN1

/// Converts errors of `body`, which reads or writes a `structure`, to `CMSError`. Unrelated errors, such as disk errors, are
/// rethrown unchanged.
///
/// - Parameter part: the part of the structure that is being read, if its name helps to find the defect.
package func reporting<Result>(
    _ structure: CMSError.Structure,
    in part: String? = nil,
    _ body: () throws -> Result
) throws -> Result {
    do { return try body() } catch { throw CMSError(error, in: structure, part) ?? error }
}

/// Like `reporting`, for parsing bytes in memory: every error that is not a `CMSError`, including errors of libcrypto, means
/// that the bytes are malformed.
package func parsing<Value>(_ structure: CMSError.Structure, _ body: () throws -> Value) throws(CMSError) -> Value {
    do { return try body() } catch let error as OpenSSLError { throw .malformed(structure, "\(error)") } catch {
        throw CMSError(error, in: structure) ?? .malformed(structure, "\(error)")
    }
}

/// Like `reporting`, for writing bytes in memory: an unrelated error becomes `CMSError.malformed`.
func writing<Value>(_ structure: CMSError.Structure, _ body: () throws -> Value) throws(CMSError) -> Value {
    do { return try body() } catch { throw CMSError(error, in: structure) ?? .malformed(structure, "\(error)") }
}

/// Like `reporting`, for a `body` that only calls libcrypto.
func lift<Value: ~Copyable>(_ body: () throws(OpenSSLError) -> Value) throws(CMSError) -> Value {
    do throws(OpenSSLError) { return try body() } catch { throw .openSSL(error) }
}

extension CMSError {
    /// Converts an error that occurred in a `structure`; nil if `error` is unrelated to the structure.
    fileprivate init?(_ error: any Error, in structure: Structure, _ part: String? = nil) {
        let place = part.map { "\($0): " } ?? ""
        switch error {
        case let error as CMSError: self = error
        case let error as OpenSSLError: self = .openSSL(error)
        case let error as ASN1Error: self = .malformed(structure, place + error.descriptionForUsers)
        case let error as ElementReader.Mismatch: self = .malformed(structure, place + error.description)
        case StreamError.malformedBase64: self = .malformed(structure, "malformed base64")
        default: return nil
        }
    }
}

extension ASN1Error {
    /// A description of the error for users. The error's own description names source files of swift-asn1.
    var descriptionForUsers: String {
        switch code {
        case .invalidASN1IntegerEncoding: "an INTEGER that is empty or longer than it must be"
        case .invalidASN1Object: "an element with content that its type does not allow"
        case .invalidStringRepresentation: "a string with characters that its type does not have"
        case .tooFewOIDComponents: "an OBJECT IDENTIFIER that is too short"
        case .truncatedASN1Field: "an element that is cut off"
        case .unexpectedFieldType: "an element of the wrong type"
        case .unsupportedFieldLength: "an element whose length is too large or badly encoded"
        default: "not ASN.1"
        }
    }
}
