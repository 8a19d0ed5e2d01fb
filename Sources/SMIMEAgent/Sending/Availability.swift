/// Whether there is a key or certificate that can be used.
package enum Availability: Hashable, Sendable {
    /// There is none, and never was. `why` goes in parentheses after "no usable certificate for …", here and below.
    case missing(why: String)
    /// Unknown, since another host or program could not be asked: only a message that needs it waits.
    case unreached(why: String)
    /// Unknown, since a source could not be asked: the message waits.
    case unknown(why: String)
    /// There is one that cannot be used, for example because it expired. A warning says so.
    case unusable(why: String)
    case usable
}
