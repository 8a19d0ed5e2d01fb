import Foundation
import SMIMECLI
import TestSupport
import Testing

@Suite struct VersionTests {
    private let commit = "2cf5b9ab3c1d0e4f5a6b7c8d9e0f1a2b3c4d5e6f"

    @Test func `a release has its number, other versions name their commit`() {
        #expect(Version(commit: commit, tag: Version.release).description == Version.release)
        for tag in ["", "0.0.9-12-g2cf5b9ab3c", "\(Version.release)-1-g2cf5b9ab3c"] {
            #expect(Version(commit: commit, tag: tag).description == "\(Version.release)-development+2cf5b9ab3c")
        }
    }

    @Test func `git archive writes the commit into the version`() throws {
        let attributes = try String(contentsOf: Fixtures.root.appending(path: ".gitattributes"), encoding: .utf8)
        let file = try #require(attributes.split(separator: " ").first.map(String.init))
        let source = try String(contentsOf: Fixtures.root.appending(path: file), encoding: .utf8)
        #expect(attributes == "\(file) export-subst\n")
        #expect(source.contains("static let current = Version(commit: "))
    }
}
