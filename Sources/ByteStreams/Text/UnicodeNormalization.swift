// FoundationEssentials does not provide these normalization forms. The standard library contains them, but makes them
// available to Foundation only.
#if canImport(FoundationEssentials)
@_spi(_Unicode) import Swift
#else
import Foundation
#endif

/// Normalization Forms C and D.
///
/// UAX #15
extension String {
    /// The text in Normalization Form C, in which a letter and its accent are one character if such a character exists.
    package var canonicallyComposed: String {
        #if canImport(FoundationEssentials)
        String(scalars: _nfc)
        #else
        precomposedStringWithCanonicalMapping
        #endif
    }

    /// The text in Normalization Form D, in which letters and accents are separate.
    package var canonicallyDecomposed: String {
        #if canImport(FoundationEssentials)
        String(scalars: _nfd)
        #else
        decomposedStringWithCanonicalMapping
        #endif
    }

    private init(scalars: some Sequence<Unicode.Scalar>) {
        var view = UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}

extension Unicode.Scalar {
    /// Whether the character is unsafe to display: it moves the cursor, ends a line, reorders the text around it, is
    /// invisible, or has no standard meaning (private use, unassigned).
    @inlinable
    package var isUnsafeToDisplay: Bool {
        guard !isASCII else { return value < 0x20 || value == 0x7F }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
