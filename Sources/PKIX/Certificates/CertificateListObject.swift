import LibCrypto
import Synchronization

/// One list as libcrypto's object. The copies of a `CertificateList` share it, and it is freed after its last use.
final class CertificateListObject: Sendable {
    private enum State {
        case unread
        case read(Weak)
        /// libcrypto cannot read it.
        case unreadable(OpenSSLError)
    }

    private struct Weak {
        weak var object: Handle<X509_CRL>?
    }

    private let state = Mutex(State.unread)

    func object(of der: [UInt8]) throws(OpenSSLError) -> Handle<X509_CRL> {
        try state.withLock { state throws(OpenSSLError) in
            switch state {
            case .read(let weak): if let object = weak.object { return object }
            case .unreadable(let error):
                OpenSSLError.noteOccurrence()
                throw error
            case .unread: break
            }
            do throws(OpenSSLError) {
                let object = try Handle<X509_CRL>(certificateList: der)
                state = .read(Weak(object: object))
                return object
            } catch {
                state = .unreadable(error)
                throw error
            }
        }
    }
}

extension CertificateList {
    /// Reads the whole list with libcrypto, including its entries.
    ///
    /// - Throws: `CMSError.malformed` if libcrypto cannot read it; such a list would count for no certificate.
    package func checkEntries() throws(CMSError) {
        do throws(OpenSSLError) { _ = try object() } catch {
            throw .malformed(.certificateList, "\(error)")
        }
    }
}
