/// A property that distinguishes an address field from a plain list of mailboxes.
@nonexhaustive
package enum AddressDefect: String, Hashable, Sendable, CaseIterable {
    /// The field contains no address.
    case empty
    /// The field contains a group. The group's members are among the mailboxes.
    case group
    /// The field contains text that is not an address and is left out, or a comment, quoted string or domain literal that is
    /// not closed.
    case malformed
    /// The field contains a source route, which is ignored.
    case route
}

/// The mailboxes of an address field such as From or To, in order.
///
/// Obsolete forms are accepted: routes, comments and blanks anywhere, empty elements.
///
/// RFC 5322 §3.4, §4.4
package struct AddressList: Sendable {
    /// The mailboxes, including group members.
    package let mailboxes: [Mailbox]
    /// The defects of the field.
    package let defects: Set<AddressDefect>

    /// Reads the body of an address field.
    ///
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    package init(_ text: String) throws(MIMEError) { try self.init(text, reading: { try? EmailAddress($0) }) }

    /// Reads the body of an address field whose addresses may have other forms.
    ///
    /// - Parameter read: reads an address; returns nil for text that is none.
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    package init(_ text: String, reading read: @escaping (String) -> EmailAddress?) throws(MIMEError) {
        var parser = AddressParser(text, reading: read)
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

    /// The addresses in all fields called `name`, without the addresses in fields that exceed the limit.
    package func readableAddresses(_ name: String) -> Set<EmailAddress> {
        Set(all(name).flatMap { (try? AddressList(field: $0))?.addresses ?? [] })
    }
}
