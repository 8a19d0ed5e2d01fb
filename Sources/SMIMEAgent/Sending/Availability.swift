package import SMIMEStore

/// Whether there is a usable key or certificate.
package enum Availability: Hashable, Sendable {
    /// There is no usable key or certificate, and none that was usable before or can become usable. `why` is inserted
    /// in parentheses after "no usable certificate for …", in this case and the following ones.
    case missing(why: String)
    /// Unknown, because a remote source of certificates could not be reached. A message whose rule requires the protection
    /// is deferred; for other messages, a warning says so.
    case unreached(why: String)
    /// Unknown, because a local source of certificates, such as a folder, could not be read, a source has too many
    /// certificates or had no time for the address, checking a certificate takes too long, or a trust anchor of the system
    /// cannot be read. Every message that should get the protection is deferred.
    case unknown(why: String)
    /// There is a key or certificate, but it cannot be used now, for example because it expired. A warning says so.
    case unusable(why: String)
    case usable
}

extension Availability {
    /// Whether `choice` can be encrypted to.
    package init(_ choice: RecipientChoice) {
        if choice.selected != nil {
            self = .usable
        } else if choice.isUndecided {
            // Others may have made the check long, so that mail would be sent in clear.
            self = .unknown(why: choice.reasonForNoCertificate)
        } else if choice.isUnknown {
            self =
                choice.isHeldByOutage
                ? .unknown(why: choice.reasonForNoCertificate) : .unreached(why: choice.reasonForNoCertificate)
        } else {
            self =
                choice.hasUnusable
                ? .unusable(why: choice.reasonForNoCertificate) : .missing(why: choice.reasonForNoCertificate)
        }
    }
}
