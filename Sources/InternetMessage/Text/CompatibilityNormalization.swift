import ByteStreams

extension String {
    /// The text in Normalization Form KC, in which compatibility variants of a character are replaced by that character.
    ///
    /// UAX #15
    package var compatiblyComposed: String {
        // The table is large, and most texts are ASCII, which does not change.
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
