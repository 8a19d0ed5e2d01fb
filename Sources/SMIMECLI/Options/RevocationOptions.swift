import ArgumentParser
import PKIX
import SMIMEAgent
import SMIMEStore

/// For verbs that judge whether certificates were revoked.
struct RevocationOptions: ParsableArguments {
    @Option(help: .revocation)
    var revocation: RevocationPolicy?

    var terms: ValidationOptions { ValidationOptions(revocation: revocation ?? .soft) }
}

extension ArgumentHelp {
    static let revocation = ArgumentHelp(
        """
        Certificates that were revoked: soft takes what nothing is known of, hard does not, off does not look. (default: \
        soft)
        """,
        valueName: "off|soft|hard"
    )
}
