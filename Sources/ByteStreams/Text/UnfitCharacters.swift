extension Unicode.Scalar {
    /// Whether the character is unsafe to display: it moves the cursor, ends a line, reorders the text around it, or is
    /// invisible.
    @inlinable
    package var isUnfitForDisplay: Bool {
        guard !isASCII else { return value < 0x20 || value == 0x7F }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
