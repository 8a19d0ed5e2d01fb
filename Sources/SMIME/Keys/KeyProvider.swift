public import PKIX

/// A source of keys, certificates and trust: a store, or an in-memory value in tests.
///
/// The library calls the provider between opening a layer and reading its content. Arguments and results are values.
public protocol KeyProvider: Sendable {
    /// The user's identity for the first of `recipients` for which there is one, including old identities; nil if there is
    /// none. The library tries no other identity.
    func identity(for recipients: [EntityIdentifier]) async throws -> Identity?

    /// Certificates of `signers`, in addition to those in the message.
    func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate]

    /// The anchors, the pinned certificates and the intermediate certificates for `certificates`.
    func trust(for certificates: [Certificate]) async throws -> TrustStore

    /// The errors to treat as warnings; none by default.
    func exceptions() async throws -> VerdictExceptions
}

extension KeyProvider {
    /// No exceptions.
    public func exceptions() async throws -> VerdictExceptions { [] }
}

/// A key provider of the caller. Converts the errors that it throws to the error of the public interface.
struct CallersKeys: KeyProvider {
    private let keys: any KeyProvider

    init(_ keys: any KeyProvider) { self.keys = keys }

    func identity(for recipients: [EntityIdentifier]) async throws(SMIMEError) -> Identity? {
        do { return try await keys.identity(for: recipients) } catch { throw SMIMEError(thrownByCaller: error) }
    }

    func certificates(for signers: [EntityIdentifier]) async throws(SMIMEError) -> [Certificate] {
        do { return try await keys.certificates(for: signers) } catch { throw SMIMEError(thrownByCaller: error) }
    }

    func trust(for certificates: [Certificate]) async throws(SMIMEError) -> TrustStore {
        do { return try await keys.trust(for: certificates) } catch { throw SMIMEError(thrownByCaller: error) }
    }

    func exceptions() async throws(SMIMEError) -> VerdictExceptions {
        do { return try await keys.exceptions() } catch { throw SMIMEError(thrownByCaller: error) }
    }
}
