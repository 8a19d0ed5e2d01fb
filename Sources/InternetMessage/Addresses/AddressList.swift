import Foundation

/// A way in which an address field is not simply a list of mailboxes.
@nonexhaustive
public enum AddressDefect: String, Hashable, Sendable, CaseIterable {
    /// There is no address at all.
    case empty
    /// A group; its members are among the mailboxes.
    case group
    /// Something that is no address; it was left out.
    case malformed
    /// A source route, which is ignored.
    case route
}

/// The mailboxes of a From, To or similar field, in order.
///
/// Reads what is obsolete too: routes, comments and blanks anywhere, empty elements.
///
/// RFC 5322 §3.4, §4.4
public struct AddressList: Sendable {
    /// The mailboxes, those of groups included.
    public let mailboxes: [Mailbox]
    /// What else was found.
    public let defects: Set<AddressDefect>

    /// Reads the body of an address field.
    ///
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    public init(_ text: String) throws(MIMEError) {
        var parser = AddressParser(text)
        (mailboxes, defects) = try parser.run()
    }

    /// Reads an address field.
    ///
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    public init(field: HeaderField) throws(MIMEError) { try self.init(field.value) }

    /// The addresses, in order.
    public var addresses: [EmailAddress] { mailboxes.map(\.address) }
}

extension HeaderBlock {
    /// The addresses in all fields called `name`, in order.
    ///
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    public func addresses(_ name: String) throws(MIMEError) -> [EmailAddress] {
        var addresses: [EmailAddress] = []
        for field in all(name) { addresses += try AddressList(field: field).addresses }
        return addresses
    }

    /// The same, without those in fields that hold more than anybody reads.
    package func readableAddresses(_ name: String) -> Set<EmailAddress> {
        Set(all(name).flatMap { (try? AddressList(field: $0))?.addresses ?? [] })
    }
}
