import InternetMessage

/// Whom a message is from.
struct Sender {
    let addresses: [EmailAddress]
    var address: EmailAddress { addresses[0] }

    /// The mailboxes of From; nil if there are none.
    ///
    /// - Throws: `Failure` with status 65 if there is more than one From field.
    init?(of header: HeaderBlock) throws {
        guard header.all("From").count <= 1 else {
            throw Failure(.badData, "the message has more than one From field")
        }
        addresses = try header.addresses("From")
        guard !addresses.isEmpty else { return nil }
    }
}
