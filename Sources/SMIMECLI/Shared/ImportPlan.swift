import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEStore

/// What is to be stored, and what is odd about it.
struct ImportPlan {
    let account: EmailAddress?
    let trust: Bool
    let now: Date
    private(set) var batch = ImportBatch()
    private(set) var problems: [Problem] = []
    /// What could be done next about some of it.
    private(set) var hints: [String] = []

    init(account: EmailAddress?, trust: Bool, now: Date) {
        self.account = account
        self.trust = trust
        self.now = now
    }

    mutating func note(_ problems: [Problem]) { self.problems += problems }

    /// Plans for everything in `contents`.
    ///
    /// - Parameter renewals: what becomes of those certificates among them that are about keys of ours.
    /// - Throws: `Failure` with status 67 for an identity without any address and no account, or if nothing is left
    ///   that could be stored.
    mutating func add(_ contents: ImportedFiles, renewals: [ImportBatch.IdentityItem] = []) throws {
        problems += contents.problems
        if let account, contents.identities.isEmpty, renewals.isEmpty {
            warn(.accountUnused, "there is no private key in it that \(account) could get")
        }
        var seen: Set<Certificate> = []
        for identity in contents.identities where seen.insert(identity.certificate).inserted {
            try add(identity)
        }
        for item in renewals where !seen.contains(item.identity.certificate) { add(item) }
        seen.formUnion(renewals.map(\.identity.certificate))
        for certificate in contents.certificates where seen.insert(certificate).inserted { add(certificate) }
        batch.crls += Set(contents.certificateLists)
        guard !batch.isEmpty || !contents.mails.isEmpty else {
            throw Failure(
                .noUser,
                problems.last?.text ?? "nothing to import",
                hints: ["name the address yourself: smime recipient add ADDR FILE"]
            )
        }
    }

    private mutating func add(_ identity: Identity) throws {
        let certificate = identity.certificate
        let named = certificate.ownAddresses
        guard let accounts = account.map({ [$0] }) ?? (named.isEmpty ? nil : named) else {
            throw Failure(
                .noUser,
                "\(certificate.subject): the certificate names no address",
                hints: ["say whose it is with --account ADDR"]
            )
        }
        add(.init(identity, accounts: accounts, isAssigned: account != nil))
    }

    private mutating func add(_ item: ImportBatch.IdentityItem) {
        let certificate = item.identity.certificate
        if let account, !certificate.names(account) {
            let named = Self.list(certificate.emailAddresses.map(\.text))
            warn(.addressMismatch, "the certificate of \(account) names \(named)")
        }
        noteOddities(of: certificate)
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
                hints.append(
                    "if \(certificate.subject) is a person and no authority: smime recipient add \(shell: address) FILE --trust"
                )
            }
            return
        }
        guard !addresses.isEmpty else {
            return warn(.certificateNoAddress, "\(certificate.subject): names no address, and was left out")
        }
        noteOddities(of: certificate)
        batch.recipients.append(.init(certificate: certificate, addresses: addresses, isPinned: trust))
    }

    private mutating func noteOddities(of certificate: Certificate) {
        let name = certificate.subject.description
        if certificate.notAfter < now { warn(.certificateExpired, "\(name): expired on \(certificate.notAfter.day)") }
        if certificate.notBefore > now {
            warn(.certificateNotYetValid, "\(name): not valid before \(certificate.notBefore.day)")
        }
        if certificate.hasMalformedAddress {
            warn(.certificateAddressMalformed, "\(name): an address in it is malformed")
        }
        if certificate.publicKeyAlgorithm.isWeak {
            warn(.weakKey, "\(name): \(certificate.publicKeyAlgorithm) is weak")
        }
        if certificate.isCertificateAuthority {
            warn(.endEntityIsCA, "\(name): says that it is an authority's (CA:TRUE), so mail signed with it is refused")
            hints.append(
                "have it issued anew with basicConstraints CA:FALSE, as by openssl req -x509 -addext basicConstraints=critical,CA:FALSE"
            )
        } else if !certificate.canSign, !certificate.canEncrypt {
            warn(.keyUsage, "\(name): its usage allows neither signing nor encrypting mail")
        }
    }

    private mutating func warn(_ code: ProblemCode, _ text: String) { problems.append(Problem(warning: code, text)) }

    private static func list(_ addresses: [String]) -> String {
        addresses.isEmpty ? "no address" : addresses.joined(separator: ", ")
    }
}
