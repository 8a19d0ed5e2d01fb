public import InternetMessage
public import PKIX

extension Certificate {
    /// The well-formed addresses in the certificate, without duplicates.
    public var emailAddresses: [EmailAddress] { mailNames.list }

    /// The well-formed addresses in the certificate, to be compared with others; empty if it has too many names to compare
    /// (`isExcessive`).
    var mailAddresses: Set<EmailAddress> { isExcessive ? [] : mailNames.set }

    /// The first of `emailAddresses`; nil if there is none.
    var firstAddress: EmailAddress? { addresses.lazy.compactMap { try? EmailAddress($0) }.first }

    private var mailNames: MailNames { readAddresses.value { MailNames(addresses) } }
}

/// The well-formed addresses in a certificate.
private struct MailNames: Sendable {
    /// The addresses in the order of the certificate, without duplicates.
    let list: [EmailAddress]
    let set: Set<EmailAddress>

    init(_ texts: [String]) {
        var seen: Set<EmailAddress> = []
        list = texts.compactMap { try? EmailAddress($0) }.filter { seen.insert($0).inserted }
        set = seen
    }
}
