import InternetMessage
import SMIMEStore

extension Policy.Kind {
    /// The kind of message by `header` and envelope; nil for mail from one person to another.
    ///
    /// RFC 5321 §4.5.5, RFC 3834 §5, RFC 2919, RFC 2369
    init?(of header: HeaderBlock, hasNullSender: Bool) {
        let precedence = header.first("Precedence")?.value.lowercased()
        let submitted = header.all("Auto-Submitted").map { Self.keyword($0) }
        if hasNullSender {
            self = .bounce
        } else if header.fields.contains(where: Self.isOfList)
            || ["list", "bulk", "junk"].contains(precedence)
        {
            self = .list
        } else if submitted.contains(where: { $0 != "no" }) || precedence == "auto_reply" {
            self = .automatic
        } else {
            return nil
        }
    }

    /// The level for such mail without a rule for its kind, its recipient or its sender; nil for the usual level.
    ///
    /// Mail servers and list software must read reports and subscribers' addresses, which they cannot do in encrypted
    /// mail.
    func builtInLevel(encrypting: Bool, hasAccount: Bool) -> Policy.Level? {
        switch self {
        case .automatic: nil
        case .bounce: .never
        case .list: encrypting || !hasAccount ? .never : nil
        }
    }

    /// Whether `field` is one that list software writes, and looks as it writes it: with something in angle brackets, or
    /// List-Post with `NO`. Any other field whose name begins with `List-` makes no mailing list.
    private static func isOfList(_ field: HeaderField) -> Bool {
        guard field.isNamed(startingWith: "List-"), listFields.contains(where: { field.isNamed($0) }) else {
            return false
        }
        if field.isNamed("List-Post"), keyword(field) == "no" { return true }
        guard let open = field.value.firstIndex(of: "<") else { return false }
        return field.value[open...].dropFirst().firstIndex(of: ">").map { $0 > field.value.index(after: open) } ?? false
    }

    /// RFC 2919 §3, RFC 2369 §3
    private static let listFields = [
        "List-Id", "List-Help", "List-Unsubscribe", "List-Subscribe", "List-Post", "List-Owner", "List-Archive",
    ]

    /// The field's value without parameters and comments.
    private static func keyword(_ field: HeaderField) -> String {
        let word = field.value.prefix { $0 != ";" && $0 != "(" }
        return word.filter { !$0.isWhitespace }.lowercased()
    }
}

extension Policy.Kind {
    /// The kind as a sentence has it: `bounces`, `mailing lists`, `automatic mail`.
    var plural: String {
        switch self {
        case .automatic: "automatic mail"
        case .bounce: "bounces"
        case .list: "mailing lists"
        }
    }
}
