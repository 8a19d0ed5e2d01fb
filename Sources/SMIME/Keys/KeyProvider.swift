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
