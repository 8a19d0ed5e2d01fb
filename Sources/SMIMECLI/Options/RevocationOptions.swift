import ArgumentParser
import PKIX
import SMIMEAgent
import SMIMEStore

/// Options for verbs that check whether certificates were revoked.
struct RevocationOptions: ParsableArguments {
    @Option(help: .revocation)
    var revocation: RevocationPolicy?

    var validation: ValidationOptions { ValidationOptions(revocation: revocation ?? .soft) }
}

extension ArgumentHelp {
    static let revocation = ArgumentHelp(
        """
        How to check for revocation: soft accepts certificates of unknown status, hard rejects them, off \
        does not check. (default: soft)
        """,
        valueName: "off|soft|hard"
    )
}
