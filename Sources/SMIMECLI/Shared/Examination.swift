import CMSSyntax
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIMEStore

/// Everything `doctor` looks at.
struct Examination {
    struct Finding {
        enum Level: String { case ok, warning, error }

        let code: String
        let level: Level
        let text: String
        let hints: [String]
        /// What the finding makes of the exit status: 0 for a remark, 1 for what should be mended soon, 2 where mail is or
        /// will be stopped.
        let status: ExitStatus
    }

    private(set) var findings: [Finding] = []

    /// The findings, the worst first; those of one kind as they were made.
    var ranked: [Finding] {
        [ExitStatus.outage, .negative, .success].flatMap { status in
            let found = findings.filter { $0.status == status }
            return found.filter { $0.level != .ok } + found.filter { $0.level == .ok }
        }
    }

    init(of location: StoreLocation, at time: Date) async {
        examineLibrary()
        examineClock(time)
        do {
            let store = try await Store.open(
                location,
                mode: .readOnly,
                passphrase: try StorePassphrase(origin: nil, asks: false).source()
            )
            try await examine(store, at: time)
        } catch {
            let failure = Failure(error)
            add("store", .error, failure.message, failure.hints)
        }
    }

    private mutating func examineLibrary() {
        add("libcrypto", .ok, Libcrypto.version)
        for fault in LibcryptoFault.known(in: Libcrypto.versionNumber) {
            // Nobody can tell from here whether it is there.
            add(
                "libcrypto-fault",
                .warning,
                "\(fault.identifier): \(fault.text), unless your distribution repaired its own \(Libcrypto.versionNumber)",
                ["install the security updates of libssl3"],
                status: .success
            )
        }
        if IDNLibrary.shared != nil {
            add("libidn2", .ok, "international domain names are understood")
        } else {
            add(
                "libidn2",
                .error,
                "\(IDNLibrary.name) cannot be loaded: nothing is done with mail of international domains",
                ["install libidn2-0"]
            )
        }
        for probe in LibcryptoProbe.all {
            switch probe.run() {
            case .passed(let text): add("probe-\(probe.code)", .ok, text)
            case .failed(let text):
                add(
                    "probe-\(probe.code)",
                    .error,
                    text,
                    ["install another libcrypto (libssl3)"]
                )
            case .untried(let why):
                add("probe-\(probe.code)", .warning, "cannot be tried: \(why)", status: .success)
            }
        }
        if !Libcrypto.hasLegacyProvider {
            add(
                "libcrypto-legacy",
                .warning,
                "no legacy provider, so old PKCS#12 files (RC2-40) cannot be read",
                ["install the package that has ossl-modules/legacy.so"],
                status: .success
            )
        }
        let system = SystemAnchors()
        if system.isReadable {
            add("system-anchors", .ok, system.folder)
        } else {
            add(
                "system-anchors",
                .warning,
                "\(system.folder): cannot be read",
                ["install ca-certificates, or use anchors of your own: smime trust add FILE"],
                status: .success
            )
        }
    }

    /// A clock that was never set stands at the beginning of time or before this program was written.
    private mutating func examineClock(_ time: Date) {
        let written = Date(timeIntervalSince1970: 1_767_225_600)
        if time < written {
            add("clock", .error, "the clock says \(time.day)", ["set the clock"])
        } else {
            add("clock", .ok, time.timestamp)
        }
    }

    private mutating func examine(_ store: Store, at time: Date) async throws {
        guard store.exists else {
            return examineMissing(store.location)
        }
        for finding in try await store.check() {
            switch finding.level {
            case .error:
                add(
                    "store",
                    .error,
                    finding.text,
                    ["put back a copy: smime store restore FILE"]
                )
            case .warning: add("store-" + finding.code.rawValue, .warning, finding.text)
            case .note: add("store-" + finding.code.rawValue, .ok, finding.text)
            }
        }
        add("store", .ok, store.location.database)
        let anchors = try await store.anchors.all()
        add("anchors", .ok, "\(anchors.count) in the store")
        for anchor in anchors where !anchor.certificate.isValid(at: time) {
            add("anchor-expired", .warning, "\(anchor.certificate.subject): not valid now")
        }
        let accounts = try await store.accounts.all()
        add("accounts", .ok, "\(accounts.count)")
        let verdicts = try await store.verdicts(on: accounts, at: time)
        for account in accounts { examine(account, at: time, verdicts) }
        try await examineRevocationLists(of: store, at: time)
        try await examineChains(of: accounts, verdicts, in: store, at: time)
        try await examineRecipients(in: store, at: time)
        try await examineHeld(in: store)
        try await examineSources(of: store)
        try await examineSendmail(of: store)
    }

    /// A store that was named may have been there before, on a disk that is away now, and mail waits for it.
    private mutating func examineMissing(_ location: StoreLocation) {
        guard location.home == nil else {
            return add("store", .error, "\(location.path): there is no store", [Failure.bringBack])
        }
        add("store", .ok, "\(location.path): none yet", ["bring in your key: smime import FILE"])
    }

    private mutating func examine(_ account: Account, at time: Date, _ verdicts: CertificateVerdicts) {
        for identity in account.identities where verdicts.isRevoked(identity.certificate) {
            add(
                "identity-revoked",
                .warning,
                "\(account.address): \(identity.certificate.fingerprint) was revoked by its issuer, and signs nothing any more",
                ["if there is no other one: have a new certificate issued, then smime import FILE"]
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
                examineMissingIdentity(of: account, for: purpose)
                continue
            }
            let lapsing = IdentitySelection.lapsing(
                of: account.identities,
                for: account.address,
                purpose: purpose,
                from: time,
                to: Self.soon(time),
                verdicts: verdicts
            )
            if let end = lapsing?.certificate.notAfter {
                add(
                    "identity-expiring",
                    .warning,
                    "\(account.address): the identity for \(purpose.rawValue) ends \(end.day)",
                    ["have a new certificate issued, then smime import FILE"]
                )
            }
        }
    }

    /// An account without any certificate, or with certificates for the other purpose alone, was meant to be so.
    private mutating func examineMissingIdentity(of account: Account, for purpose: IdentitySelection.Purpose) {
        let certificates = account.identities.map(\.certificate)
        // An account without a key is for a sender whose requests count, and who signs nothing.
        let isMeant =
            certificates.isEmpty
            || certificates.contains { purpose == .signing ? $0.canEncrypt : $0.canSign }
                && !certificates.contains { purpose == .signing ? $0.canSign : $0.canEncrypt }
        add(
            "identity-missing",
            isMeant ? .ok : .warning,
            "\(account.address): no current identity for \(purpose.rawValue)",
            isMeant ? [] : ["see smime account show \(shell: account.address)"]
        )
    }

    /// - Parameter status: what the finding makes of the exit status, if not what its level says: nothing, 1 or 2.
    mutating func add(
        _ code: String,
        _ level: Finding.Level,
        _ text: String,
        _ hints: [String] = [],
        status: ExitStatus? = nil
    ) {
        let usual: ExitStatus =
            switch level {
            case .ok: .success
            case .warning: .negative
            case .error: .outage
            }
        let status = min(status ?? usual, .outage)
        findings.append(Finding(code: code, level: level, text: text, hints: hints, status: status))
    }
}
