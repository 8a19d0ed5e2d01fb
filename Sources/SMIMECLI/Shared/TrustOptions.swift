import ArgumentParser
import CMS
import Keystore
import MailFilter

/// For verbs that judge whether certificates were revoked.
struct RevocationOptions: ParsableArguments {
    @Option(help: .revocation)
    var revocation: RevocationPolicy?

    var terms: TrustTerms { TrustTerms(revocation: revocation ?? .soft) }

    /// The same with the lists of the folder that the settings of `store` name, unless nobody looks.
    func terms(_ lists: FolderLists, in store: Store) async throws -> TrustTerms {
        try await lists.added(to: terms, in: store)
    }
}

extension RevocationOptions: WordReadable {
    mutating func read(_ words: inout WordReader) throws {
        revocation = try words.value("--revocation")
    }
}

extension ArgumentHelp {
    fileprivate static let revocation = ArgumentHelp(
        """
        Certificates that were revoked: soft takes what nothing is known of, hard does not, off does not look. (default: \
        soft)
        """,
        valueName: "off|soft|hard"
    )
}

/// For verbs that judge whose signature it is.
///
/// A group inside a group takes the parser longer than an option of its own.
struct TrustOptions: ParsableArguments {
    @Option(help: .revocation)
    var revocation: RevocationPolicy?
    @Option(
        help: ArgumentHelp("The chain must be valid under this certificate policy; may be repeated.", valueName: "oid")
    )
    var policy: [String] = []
    @Flag(help: "The chain must be valid under some certificate policy.") var explicitPolicy = false
    @Option(help: ArgumentHelp("Warn of what breaks the CA/Browser Forum's S/MIME rules.", valueName: "strict"))
    var caProfile: CertificateProfile?

    func validate() throws {
        for text in policy where !CertificatePolicies.isIdentifier(text) {
            throw ValidationError("--policy: '\(text)' is no object identifier like 2.23.140.1.5.1.1")
        }
    }

    var terms: TrustTerms {
        var terms = TrustTerms(revocation: revocation ?? .soft)
        terms.policies = CertificatePolicies(acceptable: policy, isExplicit: explicitPolicy)
        terms.profile = caProfile
        return terms
    }
}

extension TrustOptions: WordReadable {
    mutating func read(_ words: inout WordReader) throws {
        revocation = try words.value("--revocation")
        policy = try words.values("--policy")
        explicitPolicy = words.flag("--explicit-policy")
        caProfile = try words.value("--ca-profile")
    }
}
