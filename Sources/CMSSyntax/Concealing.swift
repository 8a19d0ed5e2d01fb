import ByteStreams
import PKIX

/// Makes one error of all that can go wrong with a message once a recipient was chosen; what the disk or the
/// caller did wrong stays what it is.
func concealing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch StreamError.malformedBase64 {
        throw CMSError.decryptionFailed
    } catch let error as StreamError {
        throw error
    } catch is CancellationError {
        throw CancellationError()
    } catch let error as CMSError where error == BufferedDecryption.tooLong {
        throw error
    } catch {
        throw CMSError.decryptionFailed
    }
}
