import SwiftASN1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A revocation list whose signature was checked, with the properties that its use depends on.
struct SelectedRevocationList {
    let list: CertificateList
    /// The certificate with the key that signed it.
    let signer: Certificate
    let edition: RevocationListEdition
    let scope: CertificateList.Scope

    /// - Throws: an error of the ASN.1 reader if the extensions of the list cannot be read.
    init(_ list: CertificateList, signedBy signer: Certificate) throws {
        (self.list, self.signer) = (list, signer)
        (edition, scope) = (try list.edition, try list.scope)
    }

    /// The properties that lists of one series share; the newest of them counts: the key that signed them, and the
    /// certificates that they are about. A list's own claim about its key does not matter, because the signing key is
    /// known.
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

    /// The `lists` that count at `date`: the newest of each series, all of them in a tie. An expired list is included
    /// unless a list that may replace it does: it revokes, but never shows that a certificate is good.
    static func current(of lists: [SelectedRevocationList], at date: Date) -> [SelectedRevocationList] {
        let places = Dictionary(grouping: lists.indices) { lists[$0].series }.values.flatMap { members in
            RevocationListEdition.current(of: members.map { lists[$0].edition }, at: date).map { members[$0] }
        }
        return places.sorted().map { lists[$0] }
    }

    /// Whether libcrypto may be given it as a delta list. libcrypto dereferences a null pointer for a delta list without a
    /// number, and treats some delta lists that are limited to some reasons as complete lists.
    var isUsableDelta: Bool {
        guard edition.isDelta, edition.number != nil, edition.baseNumber != nil else { return false }
        guard let point = scope.distributionPoint else { return true }
        guard let fields = try? ElementReader(ASN1Node.read(point)).remaining else { return false }
        return !fields.contains { $0.identifier == .context(3) }
    }

    /// Whether it is a delta list that by itself shows that `issuer` revoked `certificate`: signed by the issuer's own
    /// key, which may sign lists. Its base does not matter for that.
    func isDeltaRevoking(_ certificate: Certificate, issuedBy issuer: Certificate?) -> Bool {
        guard edition.isDelta, let issuer, issuer.publicKeyInfo == signer.publicKeyInfo,
            signer.keyUsage?.contains(.cRLSign) ?? true
        else { return false }
        return list.names(certificate)
    }
}
