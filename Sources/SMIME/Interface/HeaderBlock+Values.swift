public import InternetMessage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HeaderBlock {
    // None of these is proven: `OpenedMessage.verifiedAuthor` is.

    /// The subject with its encoded words decoded (RFC 2047); nil without one.
    public var subject: String? { first("Subject")?.displayValue }

    /// The addresses in From, in order; several, or in several fields, are a reason for doubt.
    public var from: [EmailAddress] { list("From") }

    /// The addresses in To, members of groups included.
    public var to: [EmailAddress] { list("To") }

    /// The addresses in Cc, members of groups included.
    public var cc: [EmailAddress] { list("Cc") }

    /// When the sender claims to have written the message; nil if Date is missing or says no time (RFC 5322 §3.3).
    public var date: Date? { first("Date").flatMap { MessageDate($0.value) }?.date }

    /// What is no address is left out, as are fields with more addresses than the limit.
    private func list(_ name: String) -> [EmailAddress] {
        all(name).flatMap { (try? AddressList(field: $0))?.addresses ?? [] }
    }
}
