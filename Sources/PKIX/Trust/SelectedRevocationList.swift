import SwiftASN1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A revocation list whose signature was verified, with the properties that determine how the list is used.
struct SelectedRevocationList {
    let list: CertificateList
    /// The certificate whose key signed the list.
    let signer: Certificate
    let edition: RevocationListEdition
    let scope: CertificateList.Scope

    /// - Throws: swift-asn1's error if the extensions of the list are unreadable.
    init(_ list: CertificateList, signedBy signer: Certificate) throws {
        (self.list, self.signer) = (list, signer)
        (edition, scope) = (try list.edition, try list.scope)
    }

    /// The common properties of the lists of one series: the key that signed them, and the certificates that they cover. Only
    /// the newest list of a series is used. The key that a list names is ignored, because the key that signed it is known.
    struct Series: Hashable {
        private let issuer: EncodingKey
        private let key: [UInt8]
        private let distributionPoint: [UInt8]?

        init(_ scope: CertificateList.Scope, signer: Certificate) {
            (issuer, distributionPoint) = (scope.issuer, scope.distributionPoint)
            key = signer.publicKeyInfo
        }
    }

    var series: Series { Series(scope, signer: signer) }

    /// The `lists` that are in effect at `date`: the newest of each series, or several if they are equally new. An expired
    /// list is included unless another list replaces it. It can show that a certificate is revoked, but never that a
    /// certificate is good.
    static func current(of lists: [SelectedRevocationList], at date: Date) -> [SelectedRevocationList] {
        let places = Dictionary(grouping: lists.indices) { lists[$0].series }.values.flatMap { members in
            RevocationListEdition.current(of: members.map { lists[$0].edition }, at: date).map { members[$0] }
        }
        return places.sorted().map { lists[$0] }
    }

    /// Whether the list may be passed to libcrypto as a delta list. libcrypto dereferences a null pointer for a delta list
    /// without a number, and treats some delta lists that are limited to certain reasons as complete lists.
    var isUsableDelta: Bool {
        guard edition.isDelta, edition.number != nil, edition.baseNumber != nil else { return false }
        guard let point = scope.distributionPoint else { return true }
        guard let fields = try? ElementReader(ASN1Node.read(point)).remaining else { return false }
        return !fields.contains { $0.identifier == .context(3) }
    }

    /// Whether the list is a delta list that, without its base, shows that `issuer` revoked `certificate`: it was signed by
    /// the issuer's own key, and that key may sign lists.
    func isDeltaRevoking(_ certificate: Certificate, issuedBy issuer: Certificate?) -> Bool {
        guard edition.isDelta, let issuer, issuer.publicKeyInfo == signer.publicKeyInfo,
            signer.keyUsage?.contains(.cRLSign) ?? true
        else { return false }
        return list.revokes(certificate)
    }
}
