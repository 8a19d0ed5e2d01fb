import InternetMessage

/// The recipients of an envelope as the mail server wrote them, where the same one may stand in several ways.
struct RecipientNames {
    private var names: [String: [String]] = [:]

    init(_ recipients: [String]) {
        for recipient in recipients where !names[Self.key(recipient), default: []].contains(recipient) {
            names[Self.key(recipient), default: []].append(recipient)
        }
    }

    /// Every way in which one of `recipients` is written in the envelope.
    func all(of recipients: [String]) -> [String] {
        var all: [String] = []
        var seen: Set<String> = []
        for recipient in recipients {
            let key = Self.key(recipient)
            guard seen.insert(key).inserted else { continue }
            all += names[key] ?? [recipient]
        }
        return all
    }

    private static func key(_ recipient: String) -> String { (try? EmailAddress(recipient))?.key ?? recipient }
}
