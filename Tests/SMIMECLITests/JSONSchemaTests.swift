import Foundation
import TestSupport
import Testing

/// Transcripts validate every report against the schema; these tests show that the validation can fail.
@Suite struct JSONSchemaTests {
    private static let right =
        #"{"error":{"code":"usage","exit_status":64,"hints":[],"text":"no"},"schema":1}"#

    private func validationError(for text: String) throws -> String? {
        let url = Fixtures.root.appending(path: "docs/smime-report.schema.json")
        return try JSONSchema(contentsOf: url).validationError(for: Array(text.utf8), ["failure"])
    }

    @Test func `A failure is as the schema says`() throws { #expect(try validationError(for: Self.right) == nil) }

    @Test(arguments: [
        ("\"schema\":1", "\"schema\":2"), ("\"schema\":1", "\"other\":1"), ("64", "\"64\""), ("64", "0"),
        ("64", "true"),
        ("[]", "{}"), ("[]", "[1]"), ("\"text\":\"no\"", "\"text\":\"no\",\"more\":1"), (",\"text\":\"no\"", ""),
        ("}", ""),
    ])
    func `A key that is missing, unknown or of another type is found`(old: String, new: String) throws {
        #expect(try validationError(for: Self.right.replacing(old, with: new)) != nil)
    }
}
