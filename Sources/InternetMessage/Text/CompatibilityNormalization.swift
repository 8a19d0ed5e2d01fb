import ByteStreams

extension String {
    /// In Normalization Form KC: other forms of the same characters are those characters.
    ///
    /// UAX #15
    package var compatiblyComposed: String {
        // The table is large, and nearly every text needs nothing of it.
        guard !utf8.allSatisfy({ $0 < 128 }) else { return self }
        var view = UnicodeScalarView()
        for scalar in unicodeScalars {
            if let scalars = CompatibilityTable.mappings[scalar] {
                view.append(contentsOf: scalars)
            } else {
                view.append(scalar)
            }
        }
        return String(view).canonicallyComposed
    }
}
