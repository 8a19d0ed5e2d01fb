public import InternetMessage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HeaderBlock {
    // These values are not verified; `OpenedMessage.verifiedAuthor` is.

    /// The subject with its encoded words decoded (RFC 2047); nil if there is no Subject field. It may contain line breaks and
    /// other control characters: use `EncodedWord.encode` before writing it into another header.
    public var subject: String? { first("Subject")?.displayValue }

    /// The addresses in From, in order. Treat several addresses or several From fields as suspicious.
    public var from: [EmailAddress] { list("From") }

    /// The addresses in To, including group members.
    public var to: [EmailAddress] { list("To") }

    /// The addresses in Cc, including group members.
    public var cc: [EmailAddress] { list("Cc") }

    /// The time at which the message was written, as the sender claims; nil if Date is missing or cannot be parsed (RFC 5322
    /// §3.3).
    public var date: Date? { first("Date").flatMap { MessageDate($0.value) }?.date }

    /// The addresses in all fields called `name`. Text that is not an address, and fields with more addresses than the
    /// limit, are ignored.
    private func list(_ name: String) -> [EmailAddress] {
        all(name).flatMap { (try? AddressList(field: $0))?.addresses ?? [] }
    }
}
