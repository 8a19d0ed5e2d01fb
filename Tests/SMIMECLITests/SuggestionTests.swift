import SMIMECLI
import Testing

/// The known addresses that are suggested for a misspelt one.
@Suite struct SuggestionTests {
    private let known = [
        "alice@example.org", "Bob@example.org", "al@example.org", "carol@mail.example.net", "@example.org",
    ]

    @Test(arguments: [
        ("alcie@example.org", "alice@example.org"), ("alice@exmaple.org", "alice@example.org"),
        ("ALCIE@EXAMPLE.ORG", "alice@example.org"), ("bbo@example.org", "Bob@example.org"),
        ("carl@mail.example.ne", "carol@mail.example.net"), ("@exampl.org", "@example.org"),
    ])
    func `one or two wrong letters are a misspelling`(written: String, meant: String) {
        #expect(Suggestion.closestAddress(to: written, among: known) == meant)
    }

    @Test(arguments: [
        "bo@example.org", "dave@example.org", "carl@mial.example.ne", "alice@example.com", "alice", "",
    ])
    func `another name or domain is no misspelling`(written: String) {
        #expect(Suggestion.closestAddress(to: written, among: known) == nil)
    }

    @Test func `the address itself is not suggested`() {
        #expect(Suggestion.closestAddress(to: "alice@example.org", among: ["alice@example.org"]) == nil)
        #expect(Suggestion.closestAddress(to: "ALICE@example.org", among: ["alice@example.org"]) == nil)
    }

    @Test func `the closest address is suggested`() {
        let known = ["annex@example.org", "annie@example.org"]
        #expect(Suggestion.closestAddress(to: "annies@example.org", among: known) == "annie@example.org")
    }
}
