import Streams
import SwiftASN1

/// Turns whatever a parser throws into the error that callers of this module know.
///
/// - Parameter part: which part of the structure is read, if that helps to find the fault.
func reporting<Result>(
    _ structure: CMSError.Structure,
    in part: String? = nil,
    _ body: () throws -> Result
) throws -> Result {
    do {
        return try body()
    } catch let error as ASN1Error {
        throw CMSError.malformed(structure, (part.map { "\($0): " } ?? "") + error.words)
    } catch let error as ElementReader.Mismatch {
        throw CMSError.malformed(structure, (part.map { "\($0): " } ?? "") + error.description)
    } catch let error as OpenSSLError {
        throw CMSError.openSSL(error)
    } catch StreamError.malformedBase64 {
        throw CMSError.malformed(structure, "malformed base64")
    }
}

/// Makes one error of all that can go wrong with a message once a recipient was chosen; what the disk or the
/// caller did wrong stays what it is.
func concealing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch StreamError.malformedBase64 {
        throw CMSError.decryptionFailed
    } catch let error as StreamError {
        throw error
    } catch let error as CMSError where error == WholeDecryption.tooLong {
        throw error
    } catch {
        throw CMSError.decryptionFailed
    }
}
