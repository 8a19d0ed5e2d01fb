package import Foundation
package import InternetMessage
package import PKIX
import SMIME
package import SMIMEStore

/// The items to store, with warnings about them.
package struct ImportPlan {
    /// Advice about a certificate.
    package enum Advice: Sendable {
        /// The certificate can be added as a recipient's, if it belongs to the person or domain of this address and not to an
        /// authority.
        case addAsRecipient(Certificate, AddressScope)
        /// The certificate claims to be that of an authority, and should be reissued without this claim.
        case reissueAsEndEntity
    }

    private let account: EmailAddress?
    private let trust: Bool
    private let now: Date
    /// The items to store.
    package private(set) var batch = ImportBatch()
    package private(set) var problems: [Problem] = []
    package private(set) var advice: [Advice] = []

    /// - Parameters:
    ///   - account: the account that receives the identities, even if they name other addresses; if nil, the accounts of the
    ///     addresses that they name.
    ///   - trust: whether authorities become trust anchors, and other certificates are pinned.
    package init(account: EmailAddress?, trust: Bool, now: Date) {
        self.account = account
        self.trust = trust
        self.now = now
    }

    package mutating func note(_ problems: [Problem]) { self.problems += problems }

    /// Adds everything in `contents` to the plan.
    ///
    /// - Parameter renewals: the certificates in `contents` that renew a certificate for a key in the store.
    /// - Throws: `AgentError.unnamedIdentity` for an identity without any address if no account was given,
    ///   `AgentError.nothingToImport` if there is neither an item to store nor mail to learn from.
    package mutating func add(_ contents: ImportedFiles, renewals: [ImportBatch.IdentityItem] = []) throws {
        problems += contents.problems
        if let account, contents.identities.isEmpty, renewals.isEmpty {
            warn(.accountUnused, "the files contain no private key for \(account)")
        }
        var seen: Set<Certificate> = []
        for identity in contents.identities where seen.insert(identity.certificate).inserted {
            try add(identity)
        }
        for item in renewals where !seen.contains(item.identity.certificate) { add(item) }
        seen.formUnion(renewals.map(\.identity.certificate))
        for certificate in contents.certificates where seen.insert(certificate).inserted { add(certificate) }
        noteSignOnly(contents.certificates)
        batch.crls += Set(contents.certificateLists)
        guard !batch.isEmpty || !contents.mails.isEmpty else {
            throw AgentError.nothingToImport(problems.last)
        }
    }

    private mutating func add(_ identity: Identity) throws {
        let certificate = identity.certificate
        let named = certificate.ownAddresses
        guard let accounts = account.map({ [$0] }) ?? (named.isEmpty ? nil : named) else {
            throw AgentError.unnamedIdentity(certificate)
        }
        add(.init(identity, accounts: accounts, isAssigned: account != nil))
    }

    private mutating func add(_ item: ImportBatch.IdentityItem) {
        let certificate = item.identity.certificate
        if let account, !certificate.names(account) {
            let named = Self.list(certificate.emailAddresses.map(\.text))
            warn(.addressMismatch, "the certificate of \(account) names \(named)")
        }
        noteDefects(of: certificate)
        batch.identities.append(item)
        guard trust else { return }
        batch.recipients.append(
            .init(certificate: certificate, addresses: item.accounts.map { AddressScope($0) }, isPinned: true)
        )
    }

    private mutating func add(_ certificate: Certificate) {
        let addresses = certificate.recipientScopes
        if certificate.isCertificateAuthority || (certificate.isSelfIssued && addresses.isEmpty) {
            batch.intermediates.append(certificate)
            if trust { batch.anchors.append(certificate) }
            if certificate.isSelfIssued, certificate.keyAllowsEncryption, let address = addresses.first {
                advice.append(.addAsRecipient(certificate, address))
            }
            return
        }
        guard !addresses.isEmpty else {
            return warn(.certificateNoAddress, "\(certificate.subject): names no address, and was left out")
        }
        noteDefects(of: certificate)
        batch.recipients.append(.init(certificate: certificate, addresses: addresses, isPinned: trust))
    }

    private mutating func noteDefects(of certificate: Certificate) {
        let name = certificate.subject.description
        if certificate.notAfter < now { warn(.certificateExpired, "\(name): expired on \(certificate.notAfter.day)") }
        if certificate.notBefore > now {
            warn(.certificateNotYetValid, "\(name): not valid before \(certificate.notBefore.day)")
        }
        if certificate.hasMalformedAddress {
            warn(.certificateAddressMalformed, "\(name): an address in it is malformed")
        }
        if certificate.publicKeyAlgorithm.isWeak {
            warn(.weakKey, "\(name): its key is too short: \(certificate.publicKeyAlgorithm)")
        }
        if certificate.isCertificateAuthority {
            warn(
                .endEntityIsCA,
                "\(name): is marked as an authority (CA:TRUE), so recipients reject mail signed with it"
            )
            advice.append(.reissueAsEndEntity)
        } else if case .other(let kind) = certificate.publicKeyAlgorithm {
            warn(.keyUsage, "\(name): smime does not support keys of the kind \(kind)")
        } else if !certificate.publicKeyAlgorithm.isOffered {
            warn(.keyUsage, "\(name): this libcrypto does not support \(certificate.publicKeyAlgorithm) keys")
        } else if !certificate.canSign, !certificate.canEncrypt {
            warn(.keyUsage, "\(name): its usage allows neither signing nor encrypting mail")
        }
    }

    /// Warns of certificates that are for signatures only, unless the plan has another certificate for encryption to the same
    /// address.
    private mutating func noteSignOnly(_ certificates: [Certificate]) {
        let encryptable = Set(batch.recipients.filter(\.certificate.canEncrypt).flatMap(\.addresses))
        let certificates = Set(certificates)
        for item in batch.recipients where certificates.contains(item.certificate) {
            let certificate = item.certificate
            guard certificate.canSign, !certificate.canEncrypt, encryptable.isDisjoint(with: item.addresses) else {
                continue
            }
            warn(.keyUsage, "\(certificate.subject): does not allow encryption, so no mail is encrypted to it")
        }
    }

    private mutating func warn(_ code: ProblemCode, _ text: String) { problems.append(Problem(warning: code, text)) }

    private static func list(_ addresses: [String]) -> String {
        addresses.isEmpty ? "no address" : addresses.joined(separator: ", ")
    }
}
