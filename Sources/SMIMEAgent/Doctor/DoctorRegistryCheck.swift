import Foundation
import PKIX
import SMIMEStore

/// Checks the certificates of recipients, and the sources in which such certificates are looked up.
struct DoctorRegistryCheck: DoctorCheck {
    let store: Store
    let time: Date
    var findings: [DoctorFinding] = []

    mutating func run() async throws {
        try await checkRecipients()
        try await checkHeld()
        try await checkSources()
    }

    /// How many addresses are named in one check; another finding gives the number of the others.
    private static let maximumNamed = 10

    /// Reports addresses with a certificate that is not used until a person trusts it.
    private mutating func checkHeld() async throws {
        let held = try await store.recipients.held()
        for (address, fingerprint) in held.prefix(Self.maximumNamed) {
            add(
                "recipient-held",
                .warning,
                text: "\(address): \(fingerprint) is held, because its issuer or key differs from before",
                remedies: [.trustHeld(address, fingerprint)]
            )
        }
        if held.count > Self.maximumNamed {
            add("recipient-held", .warning, text: "\(held.count - Self.maximumNamed) more", listing: .recipients)
        }
    }

    /// Reports addresses that will soon have no valid certificate.
    private mutating func checkRecipients() async throws {
        let ending = try await store.recipients.addressesExpiring(after: time, until: time.soon)
        for (address, end) in ending.prefix(Self.maximumNamed) {
            add(
                "recipient-expiring",
                .warning,
                text: "\(address): its last known certificate expires \(end.day)",
                remedies: [.learn(address)]
            )
        }
        if ending.count > Self.maximumNamed {
            add(
                "recipient-expiring",
                .warning,
                text: "\(ending.count - Self.maximumNamed) more",
                listing: .expiring
            )
        }
    }

    /// Checks that the sources of recipients' certificates can be reached.
    private mutating func checkSources() async throws {
        add(
            "lookup-registry",
            .ok,
            text: counted(try await store.recipients.count(), "address or domain", plural: "addresses and domains")
        )
        do {
            for source in try await store.lookupSources() {
                do throws(SourceOutage) {
                    let state = try await source.ask { source throws(SourceOutage) in try source.state() }
                    add("lookup-\(source.kind.rawValue)", .ok, text: state)
                } catch {
                    add(
                        "lookup-\(source.kind.rawValue)",
                        .error,
                        text: "cannot be asked: \(error.reason)",
                        remedies: [.repairSource(kind: source.kind.rawValue)]
                    )
                }
            }
        } catch let error as SettingError {
            add("lookup-settings", .error, text: "\(error)", remedies: [.listSettings])
        }
    }
}
