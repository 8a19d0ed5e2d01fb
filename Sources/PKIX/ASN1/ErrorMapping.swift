import ByteStreams
import LibCrypto
import SwiftASN1

/// Maps the errors of `body`, which reads or writes a `structure`, to this module's errors. Other errors, as from a
/// disk, are not mapped.
///
/// - Parameter part: the part of the structure that is read, if that helps to find the fault.
package func reporting<Result>(
    _ structure: CMSError.Structure,
    in part: String? = nil,
    _ body: () throws -> Result
) throws -> Result {
    do { return try body() } catch { throw CMSError(error, in: structure, part) ?? error }
}

/// The same for parsing bytes in memory: every error, also one of libcrypto, means that they are malformed.
package func parsing<Value>(_ structure: CMSError.Structure, _ body: () throws -> Value) throws(CMSError) -> Value {
    do { return try body() } catch let error as OpenSSLError { throw .malformed(structure, "\(error)") } catch {
        throw CMSError(error, in: structure) ?? .malformed(structure, "\(error)")
    }
}

/// The same for writing bytes in memory: a failure of libcrypto is reported as one of libcrypto.
func writing<Value>(_ structure: CMSError.Structure, _ body: () throws -> Value) throws(CMSError) -> Value {
    do { return try body() } catch { throw CMSError(error, in: structure) ?? .malformed(structure, "\(error)") }
}

/// The same where only libcrypto is called.
func lift<Value: ~Copyable>(_ body: () throws(OpenSSLError) -> Value) throws(CMSError) -> Value {
    do throws(OpenSSLError) { return try body() } catch { throw .openSSL(error) }
}

extension CMSError {
    /// The error about a `structure`; nil if `error` is about something else.
    fileprivate init?(_ error: any Error, in structure: Structure, _ part: String? = nil) {
        let place = part.map { "\($0): " } ?? ""
        switch error {
        case let error as CMSError: self = error
        case let error as OpenSSLError: self = .openSSL(error)
        case let error as ASN1Error: self = .malformed(structure, place + error.words)
        case let error as ElementReader.Mismatch: self = .malformed(structure, place + error.description)
        case StreamError.malformedBase64: self = .malformed(structure, "malformed base64")
        default: return nil
        }
    }
}
