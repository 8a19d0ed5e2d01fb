import ByteStreams
import PKIX

/// Turns every error about a message, after a recipient was chosen, into the same error. Errors of the disk and the caller
/// are not changed.
func concealing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch StreamError.malformedBase64 {
        throw CMSError.decryptionFailed
    } catch let error as StreamError {
        throw error
    } catch let error as CMSError where error == BufferedDecryption.tooLong {
        throw error
    } catch {
        throw CMSError.decryptionFailed
    }
}
