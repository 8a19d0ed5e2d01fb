import PKIX
import SMIMEStore

/// The certificates that the store knows for an address, if their keys differ from the key of a given certificate.
///
/// A given certificate that differs from the known ones may be forged, unless it chains to a trust anchor. The user is warned
/// before its fingerprint is shown.
struct OtherCertificates {
    private let address: AddressScope
    private let fingerprints: [Fingerprint]

    /// - Parameter known: the certificates known for `address`, newest first.
    init(than certificate: Certificate, among known: [Certificate], of address: AddressScope) {
        self.address = address
        var seen: Set<Fingerprint> = []
        fingerprints = known.filter { $0.publicKeyDigest != certificate.publicKeyDigest }.map(\.fingerprint)
            .filter { seen.insert($0).inserted }
    }

    /// The difference as a clause, such as `the store knows another certificate of bob@example.org (1234567812345678), which
    /// has a different key`; nil if no other certificate is known.
    var text: String? {
        guard let first = fingerprints.first else { return nil }
        guard fingerprints.count > 1 else {
            return "the store knows another certificate of \(address) (\(first.short)), which has a different key"
        }
        let shown = fingerprints.prefix(Self.shownCount).map(\.short).joined(separator: ", ")
        let more = fingerprints.count > Self.shownCount ? ", …" : ""
        return "the store knows other certificates of \(address) (\(shown)\(more)), which have different keys"
    }

    /// How many fingerprints are shown.
    private static let shownCount = 3
}

extension Store {
    /// The certificates that the store knows for `address`, with other keys than the key of `certificate`: those of the
    /// account, and those of the recipient that are neither held nor distrusted.
    ///
    /// - Parameter new: certificates that the store did not know before.
    func otherCertificates(
        than certificate: Certificate,
        of address: AddressScope,
        ignoring new: Set<Certificate> = []
    ) async throws(KeystoreError) -> OtherCertificates {
        guard exists else { return OtherCertificates(than: certificate, among: [], of: address) }
        // The registry finds an account's certificate only under the addresses that the certificate names. For other
        // aliases the account itself is read.
        let own = try await accounts.account(ifAnyFor: address.address)?.identities.map(\.certificate) ?? []
        let known = try await recipients.certificates(for: address)
        let accepted = known.filter { $0.trust == .chain || $0.trust == .pinned }.map(\.certificate)
        return OtherCertificates(
            than: certificate,
            among: own + accepted.filter { !new.contains($0) },
            of: address
        )
    }

    /// Warns if the store knows other certificates for `address` when `certificate` becomes trusted for it.
    ///
    /// - Parameter new: certificates that the store did not know before.
    func warnOfOthers(
        than certificate: Certificate,
        of address: AddressScope,
        ignoring new: Set<Certificate> = []
    ) async throws(KeystoreError) {
        let others = try await otherCertificates(than: certificate, of: address, ignoring: new)
        guard let text = others.text else { return }
        Console.warning("\(certificate.subject) \(certificate.fingerprint.short): \(text)")
    }
}
