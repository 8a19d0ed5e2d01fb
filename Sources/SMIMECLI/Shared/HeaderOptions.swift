import ArgumentParser
import Keystore
import MIME
import MailFilter
import SMIME

/// For verbs that sign or encrypt: whether the header goes with the content.
struct HeaderOptions: ParsableArguments {
    @Flag(
        name: .customLong("no-header-protection"),
        help: "Leave the header fields unsigned and unencrypted, for readers that choke on them inside."
    )
    var isUnprotected = false

    /// What becomes of the header of mail that `account` sends; nil is a sender without one.
    func policy(of account: AccountSummary?, in store: Store) async throws -> HeaderPolicy {
        var policy = try await store.headerPolicy(of: account)
        if isUnprotected { policy = .unprotected }
        return policy
    }
}

extension HeaderOptions: WordReadable {
    mutating func read(_ words: inout WordReader) throws {
        isUnprotected = words.flag("--no-header-protection")
    }
}

/// For verbs that encrypt: what is hidden of the header.
struct HidingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Hide nothing of the header (none), the subject, comments and keywords (baseline), or names and time zone, too \
            (shy). (default: the account's setting)
            """,
            valueName: "policy"
        )
    )
    var headerConfidentiality: HeaderConfidentiality?
    @Flag(
        inversion: .prefixedNo,
        help: "Write hidden fields into the text, too, for readers that do not look for them inside."
    )
    var legacyDisplay: Bool?

    /// What options of several groups demand together.
    func validate(with headers: HeaderOptions) throws {
        guard headers.isUnprotected else { return }
        if headerConfidentiality != nil || legacyDisplay == true {
            throw ValidationError("--no-header-protection leaves nothing to hide")
        }
    }

    /// `policy` with what was asked for.
    func applied(to policy: HeaderPolicy) -> HeaderPolicy {
        var policy = policy
        policy.confidentiality = headerConfidentiality ?? policy.confidentiality
        policy.hasLegacyDisplay = legacyDisplay ?? policy.hasLegacyDisplay
        return policy
    }
}

extension HidingOptions: WordReadable {
    mutating func read(_ words: inout WordReader) throws {
        headerConfidentiality = try words.value("--header-confidentiality")
        let (isWanted, isUnwanted) = (words.flag("--legacy-display"), words.flag("--no-legacy-display"))
        guard !isWanted || !isUnwanted else { throw WordReader.Unusual() }
        legacyDisplay = isWanted || isUnwanted ? isWanted : nil
    }
}

extension MessageProtector {
    /// Says which fields stay unprotected though they should not.
    func warnOfUnprotected(_ name: String, isEncrypted: Bool) {
        let names = unprotectedNames(isEncrypted: isEncrypted)
        guard !names.isEmpty else { return }
        Console.warning("\(name): header fields that stay unprotected: \(names.listedForDisplay)")
    }
}
