public import InternetMessage
public import PKIX

/// A source of keys, certificates and trust: a store, or a `Keyring` in memory.
///
/// The library calls the provider after it has read the identifiers and certificates in a layer. Arguments and results are
/// values.
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

extension Certificate {
    /// The well-formed addresses in the certificate, without duplicates.
    public var emailAddresses: [EmailAddress] { mailNames.list }

    /// The well-formed addresses in the certificate, to be compared with others; empty if it has too many names to compare
    /// (`isExcessive`).
    var mailAddresses: Set<EmailAddress> { isExcessive ? [] : mailNames.set }

    /// The first of `emailAddresses`; nil if there is none.
    var firstAddress: EmailAddress? { addresses.lazy.compactMap { try? EmailAddress($0) }.first }

    private var mailNames: MailNames { parsedAddresses.value { MailNames(addresses) } }
}

/// The well-formed addresses in a certificate.
private struct MailNames: Sendable {
    /// The addresses in the order of the certificate, without duplicates.
    let list: [EmailAddress]
    let set: Set<EmailAddress>

    init(_ texts: [String]) {
        var seen: Set<EmailAddress> = []
        list = texts.compactMap { try? EmailAddress($0) }.filter { seen.insert($0).inserted }
        set = seen
    }
}
