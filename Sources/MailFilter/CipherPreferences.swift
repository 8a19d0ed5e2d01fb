public import CMS
import Keystore
public import MIME
public import SMIME

/// Which cipher is used where nothing is known of the recipients: a standard one, and others for some of them or for
/// some senders.
///
/// Written as `aes-256-gcm old.example.org=aes-256-cbc alice@example.com=aes-256-cbc`.
public struct CipherPreferences: Sendable {
    private let standard: ContentCipher
    private let rules: [(pattern: Policy.Pattern, cipher: ContentCipher)]
    private let floor: ContentCipher

    public init() { (standard, rules, floor) = (.aes256GCM, [], .aes128CBC) }

    /// - Parameter floor: the least cipher that is ever negotiated.
    /// - Returns: nil if a word is neither a cipher nor PATTERN=CIPHER, or the standard is missing or there twice.
    public init?(parsing text: String, floor: ContentCipher = .aes128CBC) {
        var standard: ContentCipher?
        var rules: [(pattern: Policy.Pattern, cipher: ContentCipher)] = []
        for word in text.split(separator: " ") {
            let pieces = word.split(separator: "=", omittingEmptySubsequences: false)
            guard let last = pieces.last, let cipher = ContentCipher(writable: last) else { return nil }
            if pieces.count == 2, let pattern = Policy.Pattern(String(pieces[0])) {
                rules.append((pattern, cipher))
            } else if pieces.count == 1, standard == nil {
                standard = cipher
            } else {
                return nil
            }
        }
        guard let standard else { return nil }
        (self.standard, self.rules, self.floor) = (standard, rules, floor)
    }

    /// What is preferred for one message: by the rule for a recipient, then by the one for the sender, the closest
    /// pattern first.
    public func preferences(
        from senders: [EmailAddress],
        to recipients: [EmailAddress],
        demanded: ContentCipher? = nil
    ) -> CipherNegotiation.Preferences {
        let keys = (recipients + senders).lazy.map { Policy.Pattern.keys(for: $0) }
        let found = keys.compactMap { keys in
            keys.lazy.compactMap { key in rules.first { $0.pattern.key == key }?.cipher }.first
        }.first
        return CipherNegotiation.Preferences(demanded: demanded, standard: found ?? standard, floor: floor)
    }
}
