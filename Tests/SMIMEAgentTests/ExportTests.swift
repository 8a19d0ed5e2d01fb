import InternetMessage
import SMIMEAgent
import Testing

/// Exported files, with names chosen by other people.
@Suite struct ExportTests {
    private func escapedDN(_ address: String) throws -> String {
        let change = DirectoryChange(of: try EmailAddress(address), name: nil, [], smimeCertificate: nil)
        return change.ldif.replacing("\n ", with: "")
    }

    @Test func `A name on a card has no characters that reorder or end it`() throws {
        let address = try EmailAddress("alice@example.com")
        let text = ContactCard(of: address, name: "Alice\u{202E}\r\nNOTE:x,\u{301}y;z", []).text
        #expect(text.contains(#"FN:Alice\\u{202E}\\u{D}\\u{A}NOTE:x\,"# + "\u{301}" + #"y\;z"# + "\r\n"))
        #expect(text.split(separator: "\r\n").count == 5)
    }

    @Test func `A directory name is escaped`() throws {
        let plain = try escapedDN("\"a,b\"@example.com")
        #expect(plain.contains(#"dn: mail=\"a\,b\"@example.com,dc=example,dc=com"#))
    }

    @Test(arguments: [
        "<?xml version=\"1.0\"?><plist version=\"1.0\"><string>com.apple.security.pkcs12</string>",
        "\u{30}\u{7F}signed <plist version=\"1.0\"> com.apple.security.pkcs12",
    ])
    func `A profile with identities is a file with private keys`(head: String) {
        #expect(SecretFileKind(head: Array(head.utf8)) == .profile)
        #expect(SecretFileKind(head: Array(head.replacing("pkcs12", with: "pkcs1").utf8)) == nil)
    }
}
