extension String {
    /// The text with `replacement` in place of each `scalar`.
    ///
    /// `replacing(_:with:)` compares characters. It does not find a quotation mark that is followed by a combining mark, which
    /// shells and mail servers do find.
    package func replacing(scalar: Unicode.Scalar, with replacement: String) -> String {
        var replaced = String.UnicodeScalarView()
        for found in unicodeScalars {
            if found == scalar {
                replaced.append(contentsOf: replacement.unicodeScalars)
            } else {
                replaced.append(found)
            }
        }
        return String(replaced)
    }

    /// The text as the content of a quoted string, with a backslash before each backslash and quotation mark
    /// (RFC 5322 §3.2.4).
    package var escapedForQuotes: String {
        replacing(scalar: "\\", with: "\\\\").replacing(scalar: "\"", with: "\\\"")
    }
}
