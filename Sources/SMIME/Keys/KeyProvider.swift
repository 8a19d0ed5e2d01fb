public import PKIX

/// A source of keys, certificates and trust: a store, or an in-memory value in tests.
///
/// It is called after a layer was opened and before it is read; arguments and results are values.
public protocol KeyProvider: Sendable {
    /// Our identity for the first of `recipients` that is ours, old ones included; nil if none is. No other is tried.
    func identity(for recipients: [EntityIdentifier]) async throws -> Identity?

    /// Certificates of `signers` that may not be in the message.
    func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate]

    /// Anchors, pins and the intermediates above `certificates`.
    func trust(for certificates: [Certificate]) async throws -> TrustStore

    /// The errors that count as warnings; none by default.
    func exceptions() async throws -> VerdictExceptions
}

extension KeyProvider {
    /// No exceptions.
    public func exceptions() async throws -> VerdictExceptions { [] }
}
