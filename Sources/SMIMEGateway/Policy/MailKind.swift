import InternetMessage
import SMIMEStore

extension Policy.Kind {
    /// The kind of a message, determined from `header` and envelope; nil for mail from one person to another.
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

    /// The level for such mail if there is no rule for its kind, recipient or sender; nil means the usual level.
    ///
    /// Mail servers and list software must be able to read reports and subscribers' addresses, which is not possible in
    /// encrypted mail.
    func builtInLevel(encrypting: Bool, hasAccount: Bool) -> Policy.Level? {
        switch self {
        case .automatic: nil
        case .bounce: .never
        case .list: encrypting || !hasAccount ? .never : nil
        }
    }

    /// Whether `field` is a field of list software in its usual form: with text in angle brackets, or List-Post with `NO`.
    /// Other fields whose names begin with `List-` do not indicate a mailing list.
    private static func isOfList(_ field: HeaderField) -> Bool {
        guard field.isNamed(startingWith: "List-"), listFields.contains(where: { field.isNamed($0) }) else {
            return false
        }
        if field.isNamed("List-Post"), keyword(field) == "no" { return true }
        guard let open = field.value.firstIndex(of: "<") else { return false }
        return field.value[open...].dropFirst().firstIndex(of: ">").map { $0 > field.value.index(after: open) } ?? false
    }

    /// The fields of RFC 2919 §3 and RFC 2369 §3.
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
    /// The kind as written in sentences: `bounces`, `mailing lists`, `automatic mail`.
    var plural: String {
        switch self {
        case .automatic: "automatic mail"
        case .bounce: "bounces"
        case .list: "mailing lists"
        }
    }
}
