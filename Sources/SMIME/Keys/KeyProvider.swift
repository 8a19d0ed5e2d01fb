public import InternetMessage
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

/// Errors that a caller accepts as warnings, for example in an archive of old mail.
public struct VerdictExceptions: OptionSet, Hashable, Sendable {
    /// A bit mask with one bit for each exception.
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Accepts a signer whose address is only in the field Sender.
    public static let sender = VerdictExceptions(rawValue: 1)
    /// Accepts SHA-1, and keys under 2048 bits (RSA, DSA) or 224 bits (elliptic curves), except keys that a single computer
    /// can break.
    public static let weakAlgorithms = VerdictExceptions(rawValue: 2)

    /// The problems of a certificate or signature with the level that a report gives them: weakness is an error unless it is
    /// accepted.
    func weigh(_ problems: [Problem]) -> [Problem] {
        guard !contains(.weakAlgorithms) else { return problems }
        return problems.map { $0.kind.isWeakness ? Problem($0.kind, $0.text) : $0 }
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

    private var mailNames: MailNames { readAddresses.value { MailNames(addresses) } }
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
