extension String {
    /// This text made harmless for terminals and logs: control, bidirectional and invisible characters stand as `\u{…}`.
    public var escapedForDisplay: String {
        guard unicodeScalars.contains(where: \.isUnsafeForDisplay) else { return self }
        var escaped = ""
        for scalar in unicodeScalars {
            if scalar.isUnsafeForDisplay {
                escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Unicode.Scalar {
    /// Whether the scalar moves the cursor, reorders what is around it, or cannot be seen.
    var isUnsafeForDisplay: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
