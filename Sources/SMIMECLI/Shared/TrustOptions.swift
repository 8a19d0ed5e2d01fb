import ArgumentParser
import CMS
import Keystore
import MailFilter

/// For verbs that judge whether certificates were revoked.
struct RevocationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Certificates that were revoked: soft takes what nothing is known of, hard does not, off does not look.",
            valueName: "off|soft|hard"
        )
    )
    var revocation = RevocationPolicy.soft

    var terms: TrustTerms { TrustTerms(revocation: revocation) }

    /// The same with the lists of the folder that the settings of `store` name, unless nobody looks.
    func terms(_ lists: FolderLists, in store: Store) async throws -> TrustTerms {
        try await lists.added(to: terms, in: store)
    }
}

/// For verbs that judge whose signature it is.
struct TrustOptions: ParsableArguments {
    @OptionGroup var revocation: RevocationOptions
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
        var terms = revocation.terms
        terms.policies = CertificatePolicies(acceptable: policy, isExplicit: explicitPolicy)
        terms.profile = caProfile
        return terms
    }
}
