public import PKIX

/// Where keys, certificates and trust come from: a store, or an in-memory value in tests.
///
/// It is asked between opening a layer and reading it, with values and for values.
public protocol KeyProvider: Sendable {
    /// Our identity for the first of `recipients` that is ours, old ones included; nil if none is. No other is tried.
    func identity(for recipients: [EntityIdentifier]) async throws -> Identity?

    /// Certificates of `signers` that may not be in the message.
    func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate]

    /// Anchors, pins and the intermediates above `certificates`.
    func trust(for certificates: [Certificate]) async throws -> TrustStore

    /// What counts as a warning, though it spoils a verdict by default; nothing unless the provider says otherwise.
    func exceptions() async throws -> VerdictExceptions
}

extension KeyProvider {
    /// Nothing is accepted.
    public func exceptions() async throws -> VerdictExceptions { [] }
}
