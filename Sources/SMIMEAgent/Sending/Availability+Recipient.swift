package import SMIMEStore

extension Availability {
    /// Whether `choice` can be encrypted to.
    package init(_ choice: RecipientChoice) {
        if choice.selected != nil {
            self = .usable
        } else if choice.isUnknown {
            self = choice.isHeldByOutage ? .unknown(why: choice.whyNone) : .unreached(why: choice.whyNone)
        } else {
            self = choice.hasUnusable ? .unusable(why: choice.whyNone) : .missing(why: choice.whyNone)
        }
    }
}
