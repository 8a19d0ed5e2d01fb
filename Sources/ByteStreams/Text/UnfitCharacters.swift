extension Unicode.Scalar {
    /// Whether showing this character could disturb the text around it, or the reader: it moves the cursor, ends a line,
    /// reorders what is beside it, or cannot be seen.
    @inlinable
    package var isUnfitForDisplay: Bool {
        guard !isASCII else { return value < 0x20 || value == 0x7F }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
