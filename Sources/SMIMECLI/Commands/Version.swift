/// The version of this `smime`.
///
/// `git archive` writes the commit and its tag into this file (`.gitattributes`), and `scripts/package-deb` builds from such
/// an archive. A build in a working tree knows neither commit nor tag.
package struct Version: CustomStringConvertible {
    /// The latest release, or the release that is being prepared.
    package static let release = "0.1.0"

    package static let current = Version(commit: "$Format:%H$", tag: "$Format:%(describe:tags)$")

    /// `0.1.0` for the commit with this tag; otherwise `0.1.0-development`, followed by the commit if it is known
    /// (semver.org, points 9 and 10).
    package let description: String

    /// - Parameters:
    ///   - commit: the commit's full name; not hexadecimal if the commit is unknown.
    ///   - tag: the commit's tag, or the latest tag before the commit and the number of commits since.
    package init(commit: String, tag: String) {
        guard !commit.isEmpty, commit.allSatisfy(\.isHexDigit) else {
            description = "\(Self.release)-development"
            return
        }
        description = tag == Self.release ? tag : "\(Self.release)-development+\(commit.prefix(10))"
    }
}
