import LibCrypto
import Synchronization

/// A list as an object of libcrypto. All copies of a `CertificateList` share the object; it is freed after its last use.
final class CertificateListObject: Sendable {
    private enum State {
        case unread
        case read(Weak)
        /// libcrypto cannot parse the list.
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
    /// Parses the whole list with libcrypto, including its entries.
    ///
    /// - Throws: `CMSError.malformed` if libcrypto cannot parse it; such a list would have no effect on any certificate.
    package func checkEntries() throws(CMSError) {
        do throws(OpenSSLError) { _ = try object() } catch {
            throw .malformed(.certificateList, "\(error)")
        }
    }
}
