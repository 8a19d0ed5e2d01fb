/// Which `smime` this is.
///
/// `git archive` puts the commit and its tag into this file (`.gitattributes`), and `scripts/package-deb` builds from such an archive. A
/// build in a working tree knows neither.
package struct Version: CustomStringConvertible {
    /// The release that was made, or is being made.
    package static let release = "0.1.0"

    package static let current = Version(commit: "$Format:%H$", tag: "$Format:%(describe:tags)$")

    /// `0.1.0` for the commit with this tag, else `0.1.0-development`, with the commit if it is known (semver.org, points 9 and 10).
    package let description: String

    /// - Parameters:
    ///   - commit: the commit's full name; not hexadecimal if it is not known.
    ///   - tag: the commit's tag, or the last one before it and the number of commits since.
    package init(commit: String, tag: String) {
        guard !commit.isEmpty, commit.allSatisfy(\.isHexDigit) else {
            description = "\(Self.release)-development"
            return
        }
        description = tag == Self.release ? tag : "\(Self.release)-development+\(commit.prefix(10))"
    }
}
