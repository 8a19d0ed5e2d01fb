// FoundationEssentials does not have these forms. The standard library does, but declares them for Foundation only.
#if canImport(FoundationEssentials)
@_spi(_Unicode) import Swift
#else
import Foundation
#endif

/// Normalization Forms C and D.
///
/// UAX #15
extension String {
    /// In Normalization Form C: characters that can be one are one.
    package var canonicallyComposed: String {
        #if canImport(FoundationEssentials)
        String(scalars: _nfc)
        #else
        precomposedStringWithCanonicalMapping
        #endif
    }

    /// In Normalization Form D: letters and their accents are apart.
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
