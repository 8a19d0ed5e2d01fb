import Foundation
import InternetMessage
import PKIX
import SMIMEStore

/// Checks the store, its trust anchors, and the identities of its accounts.
struct DoctorStoreCheck: DoctorCheck {
    let time: Date
    let warn: @Sendable (String) -> Void
    var findings: [DoctorFinding] = []

    mutating func run(on store: Store) async throws {
        guard store.exists else { return checkMissing(store.location) }
        for finding in try await store.check() {
            switch finding.level {
            case .error:
                add(
                    "store",
                    .error,
                    text: finding.text,
                    remedies: [
                        store.location.server == nil
                            ? .restoreStore : .advice("put back a copy of the database, as with pg_restore")
                    ]
                )
            case .warning: add("store-" + finding.code.rawValue, .warning, text: finding.text)
            case .note: add("store-" + finding.code.rawValue, .ok, text: finding.text)
            }
        }
        let path = store.location.database
        if store.location.server == nil, access(path, W_OK) != 0, errno == EROFS {
            add(
                "store-read-only",
                .error,
                text: "\(path): the file system is read-only, so smime cannot record which mail it has sent",
                remedies: [.advice("mount the file system writable again; the kernel's log says why it is not")]
            )
        }
        add("store", .ok, text: path)
        let anchors = try await store.anchors.all()
        add("anchors", .ok, text: "\(anchors.count) in the store")
        for anchor in anchors where !anchor.certificate.isValid(at: time) {
            add("anchor-expired", .warning, text: "\(anchor.certificate.subject): not valid now")
        }
        let accounts = try await store.accounts.all()
        add("accounts", .ok, text: "\(accounts.count)")
        let verdicts = try await store.verdicts(on: accounts, at: time, warn: warn)
        for account in accounts { check(account, verdicts) }
        try await include(DoctorRevocationCheck(store: store, time: time)) { try await $0.run() }
        try await checkChains(of: accounts, verdicts, in: store)
        try await include(DoctorRegistryCheck(store: store, time: time)) { try await $0.run() }
        if let host = try store.settings.ofHost() {
            let names = host.values.keys.sorted().joined(separator: ", ")
            add("host-settings", .ok, text: "\(host.file): \(names.isEmpty ? "none" : names)")
        }
        checkSendmail(try await store.settings.value(of: Setting.sendmail.rawValue), of: Setting.sendmail.rawValue)
    }

    /// Adds the findings of another check; if that check throws, the findings before the error are included.
    private mutating func include<Check: DoctorCheck>(
        _ check: Check,
        _ run: (inout Check) async throws -> Void
    ) async throws {
        var check = check
        defer { findings += check.findings }
        try await run(&check)
    }

    /// Reports a missing store. If its location was configured, the store may be on a disk that is not mounted; mail then
    /// waits.
    private mutating func checkMissing(_ location: StoreLocation) {
        guard location.home == nil else {
            return add("store", .error, text: "\(location.path): there is no store", remedies: [.restoreMissingStore])
        }
        add("store", .ok, text: "\(location.path): none yet", remedies: [.importKey])
    }

    private mutating func check(_ account: Account, _ verdicts: CertificateVerdicts) {
        for identity in account.identities where verdicts.isRevoked(identity.certificate) {
            add(
                "identity-revoked",
                .warning,
                text:
                    "\(account.address): \(identity.certificate.fingerprint) was revoked by its issuer, and is no longer used to sign",
                remedies: [.renewRevoked]
            )
        }
        for purpose in [IdentitySelection.Purpose.signing, .encryption] {
            let current = IdentitySelection.current(
                of: account.identities,
                for: account.address,
                purpose: purpose,
                at: time,
                verdicts: verdicts
            )
            guard current != nil else {
                checkMissingIdentity(of: account, for: purpose)
                continue
            }
            let lapsing = IdentitySelection.identityToRenew(
                of: account.identities,
                for: account.address,
                purpose: purpose,
                from: time,
                to: time.soon,
                verdicts: verdicts
            )
            if let end = lapsing?.certificate.notAfter {
                add(
                    "identity-expiring",
                    .warning,
                    text: "\(account.address): the identity for \(purpose.rawValue) expires \(end.day)",
                    remedies: [.renew]
                )
            }
        }
    }

    /// Reports an account without an identity for `purpose`. This is not a fault if the account has no certificate at all, or
    /// only certificates for the other purpose: that is intended.
    private mutating func checkMissingIdentity(of account: Account, for purpose: IdentitySelection.Purpose) {
        let certificates = account.identities.map(\.certificate)
        // An account may lack a key on purpose: the account makes its address known, but mail from this address is not
        // signed.
        let isMeant =
            certificates.isEmpty
            || certificates.contains { purpose == .signing ? $0.canEncrypt : $0.canSign }
                && !certificates.contains { purpose == .signing ? $0.canSign : $0.canEncrypt }
        add(
            "identity-missing",
            isMeant ? .ok : .warning,
            text: "\(account.address): no current identity for \(purpose.rawValue)",
            remedies: isMeant ? [] : [.showAccount(account.address)]
        )
    }

    /// Checks that recipients can build a chain from the accounts' certificates to a trust anchor, as far as this host can
    /// tell.
    private mutating func checkChains(
        of accounts: [Account],
        _ verdicts: CertificateVerdicts,
        in store: Store
    ) async throws {
        for account in accounts {
            let current = IdentitySelection.current(
                of: account.identities,
                for: account.address,
                purpose: .signing,
                at: time,
                verdicts: verdicts
            )
            guard let certificate = current?.certificate else { continue }
            let trust = try await store.anchors.trust(judging: [certificate], systemAnchors: true)
            let verdict = trust.judge(certificate, purpose: .signing, at: time)
            guard !verdict.isTrusted, let problem = verdict.problems.first(where: { $0.level == .error }) else {
                continue
            }
            add(
                "identity-untrusted",
                .warning,
                text: "\(account.address): the chain of its identity is not trusted here: \(problem.text)",
                remedies: try await remedies(for: problem, with: certificate, in: store)
            )
        }
    }

    /// The remedies for `problem` in the chain of an account's certificate.
    private func remedies(
        for problem: Problem,
        with certificate: Certificate,
        in store: Store
    ) async throws -> [DoctorRemedy] {
        guard problem.kind == .chainNoAnchor else { return [.explain(problem.kind)] }
        switch try await store.anchors.chainEnd(above: certificate) {
        case .root(let root): return [.trustRoot(root)]
        case .missingIssuer(let last): return [.importIssuer(of: last)]
        }
    }
}

extension Date {
    /// The end of the period in which an expiry is reported as soon.
    var soon: Date { addingTimeInterval(30 * 86_400) }
}
