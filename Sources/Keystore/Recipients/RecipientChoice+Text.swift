extension RecipientChoice {
    /// Why none can be used, in words.
    public var whyNone: String {
        candidates.isEmpty ? "none is known" : candidates.map(\.reason.description).joined(separator: "; ")
    }
}
