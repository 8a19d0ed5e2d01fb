import ArgumentParser
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// Options for verbs that learn from mail that they have verified.
struct LearningOptions: ParsableArguments {
    @Option(name: .customLong("on-change"), help: .onChange)
    var given: ChangePolicy?

    var onChange: ChangePolicy { given ?? .sameRoot }
}

extension ArgumentHelp {
    static let noHarvest: ArgumentHelp = "Do not learn the sender's certificate from a valid signature."
    static let onChange = ArgumentHelp(
        """
        What to do with a new certificate of a known sender if its issuer or key has changed: use it; hold it until \
        `recipient trust`; or use it only if it has the same trust anchor and replaces no imported certificate. \
        (default: same-root)
        """,
        valueName: "use|hold|same-root"
    )
}

/// The options of verbs that learn from mail by default. They are not nested in a group, because the parser would take
/// longer.
struct HarvestOptions: ParsableArguments {
    @Flag(name: .customLong("no-harvest"), help: .noHarvest) var isOff = false
    @Option(name: .customLong("on-change"), help: .onChange)
    var given: ChangePolicy?

    var onChange: ChangePolicy { given ?? .sameRoot }
}
