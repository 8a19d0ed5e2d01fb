import Foundation
import PKIX
import SMIMEAgent
import SMIMEStore

extension Examination {
    /// How many addresses are named whose certificates expire; the others are counted.
    private static let maximumNamed = 10

    /// The end of the time in which an expiry deserves a word now.
    static func soon(_ time: Date) -> Date { time.addingTimeInterval(30 * 86_400) }

    /// Whether others could believe what the accounts sign, as far as this machine can tell.
    mutating func examineChains(
        of accounts: [Account],
        _ verdicts: CertificateVerdicts,
        in store: Store,
        at time: Date
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
                "\(account.address): nobody here trusts the chain of its identity: \(problem.text)",
                ["if its root is the right one: smime trust add FILE-OF-THE-ROOT"]
            )
        }
    }

    /// Which addresses have a certificate that waits for somebody to trust it.
    mutating func examineHeld(in store: Store) async throws {
        let held = try await store.recipients.held()
        for (address, fingerprint) in held.prefix(Self.maximumNamed) {
            add(
                "recipient-held",
                .warning,
                "\(address): \(fingerprint) is held back, by another issuer or for another key than before",
                ["once its fingerprint was compared: smime recipient trust \(address) --fingerprint \(fingerprint)"]
            )
        }
        if held.count > Self.maximumNamed {
            add("recipient-held", .warning, "\(held.count - Self.maximumNamed) more: see smime recipient list")
        }
    }

    /// Which addresses will soon have no certificate that is valid.
    mutating func examineRecipients(in store: Store, at time: Date) async throws {
        let ending = try await store.recipients.ends(after: time, until: Self.soon(time))
        for (address, end) in ending.prefix(Self.maximumNamed) {
            add(
                "recipient-expiring",
                .warning,
                "\(address): the last certificate known for it ends \(end.day)",
                ["ask for signed mail, or smime recipient add \(shell: address) FILE"]
            )
        }
        if ending.count > Self.maximumNamed {
            add(
                "recipient-expiring",
                .warning,
                "\(ending.count - Self.maximumNamed) more: see smime list --expiring 30d"
            )
        }
    }

    /// Whether the sources can be asked that certificates of recipients are looked up in.
    mutating func examineSources(of store: Store) async throws {
        add(
            "lookup-registry",
            .ok,
            counted(try await store.recipients.count(), "address or domain", "addresses and domains")
        )
        do {
            for source in try await store.lookupSources() {
                do throws(SourceOutage) {
                    let state = try await source.ask { source throws(SourceOutage) in try source.state() }
                    add("lookup-\(source.kind.rawValue)", .ok, state)
                } catch {
                    add(
                        "lookup-\(source.kind.rawValue)",
                        .error,
                        "cannot be asked: \(error.reason)",
                        ["mend it, or do without: smime config unset lookup.\(source.kind.rawValue)"]
                    )
                }
            }
        } catch let error as SettingError {
            let failure = Failure(error)
            add("lookup-settings", .error, failure.message, ["see smime config list"])
        }
    }
}
