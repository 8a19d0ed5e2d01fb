/// A way in which an address field is not simply a list of mailboxes.
@nonexhaustive
package enum AddressDefect: String, Hashable, Sendable, CaseIterable {
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
package struct AddressList: Sendable {
    /// The mailboxes, those of groups included.
    package let mailboxes: [Mailbox]
    /// The defects that were found.
    package let defects: Set<AddressDefect>

    /// Reads the body of an address field.
    ///
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    package init(_ text: String) throws(MIMEError) {
        var parser = AddressParser(text)
        (mailboxes, defects) = try parser.run()
    }

    /// Reads an address field.
    ///
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    package init(field: HeaderField) throws(MIMEError) { try self.init(field.value) }

    /// The addresses, in order.
    package var addresses: [EmailAddress] { mailboxes.map(\.address) }
}

extension HeaderBlock {
    /// The addresses in all fields called `name`, in order.
    ///
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    package func addresses(_ name: String) throws(MIMEError) -> [EmailAddress] {
        var addresses: [EmailAddress] = []
        for field in all(name) { addresses += try AddressList(field: field).addresses }
        return addresses
    }

    /// The same, without the addresses in fields that exceed the limit.
    package func readableAddresses(_ name: String) -> Set<EmailAddress> {
        Set(all(name).flatMap { (try? AddressList(field: $0))?.addresses ?? [] })
    }
}
