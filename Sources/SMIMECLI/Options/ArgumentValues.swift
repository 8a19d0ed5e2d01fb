public import ArgumentParser
public import InternetMessage
public import PKIX
import SMIME
public import SMIMEAgent
public import SMIMEStore

extension EmailAddress: ExpressibleByArgument {
    public init?(argument: String) {
        guard let address = try? EmailAddress(argument) else { return nil }
        self = address
    }

    /// Completes accounts, because most addresses on a command line are accounts.
    public static var defaultCompletionKind: CompletionKind { CompletedWords.accounts.completion }
}

extension EmailAddress {
    /// Rejects an address with a slash as an account. A slash is legal in an address, but dangerous if an account's name
    /// becomes part of a path.
    func checkAccountName() throws {
        guard !localPart.contains("/") else { throw ValidationError("'\(self)': an account's address has no slash") }
    }
}

extension Fingerprint: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension PKCS12.Compatibility: Choice {}

extension ChangePolicy: Choice {}

extension CertificateProfile: Choice {}

extension RevocationPolicy: Choice {}

extension AddressScope: ExpressibleByArgument {
    public init?(argument: String) {
        guard let scope = try? AddressScope(argument) else { return nil }
        self = scope
    }

    /// Completes the addresses and domains for which the store has certificates.
    public static var defaultCompletionKind: CompletionKind { CompletedWords.recipients.completion }
}

extension Policy.GatewayDecryption: Choice {}
extension Policy.Kind: Choice {}
extension Policy.Level: Choice {}
extension Policy.Missing: Choice {}
extension Policy.Override: Choice {}
extension Policy.Protected: Choice {}

extension Policy.Pattern {
    /// Reads a pattern from the command line. A star inside an address or domain is legal, but is rejected because the user
    /// probably meant a wildcard.
    static func typed(_ text: String) throws -> Policy.Pattern {
        let rest = text.hasPrefix("*.") || text.hasPrefix("*@") ? text.dropFirst() : text[...]
        guard !rest.contains("*"), let pattern = Policy.Pattern(text) else {
            throw ValidationError("a pattern is an address, a domain, or *.domain for all its subdomains")
        }
        return pattern
    }
}

extension Protection: Choice {}
extension HeaderConfidentiality: Choice {}
extension Setting: Choice {}

extension SettingKey: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    /// The names of settings, without those for single domains.
    public static var allValueStrings: [String] { Setting.allValueStrings }
}

extension Setting.LogTarget: Choice {}

extension HostName: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension SendmailCommand: ExpressibleByArgument {
    package init?(argument: String) { self.init(parsing: argument) }
}

/// The kinds of words, from the store and from reports, that shells complete.
enum CompletedWords: String, Choice {
    case accounts, codes, recipients

    /// The command with which a shell requests the words.
    var completion: CompletionKind { .shellCommand("smime complete \(rawValue) 2>/dev/null") }
}

/// The options with a value that also have a one-letter name. Their declarations take both names from here.
package enum OptionLetter: Character, CaseIterable {
    case detachedSignature = "b"
    case output = "o"
    case outputDirectory = "O"
    case to = "r"

    /// The option that the word `word` names by its letter; nil if there is none.
    init?(word: some StringProtocol) {
        guard word.count == 2, word.first == "-", let letter = word.last else { return nil }
        self.init(rawValue: letter)
    }

    /// The long name, without the dashes before it.
    package var longName: String {
        switch self {
        case .detachedSignature: "detached-signature"
        case .output: "output"
        case .outputDirectory: "output-dir"
        case .to: "to"
        }
    }
}

extension NameSpecification {
    /// The one-letter name and the long name of an option.
    static func letter(_ letter: OptionLetter) -> NameSpecification {
        [.customShort(letter.rawValue), .customLong(letter.longName)]
    }
}
