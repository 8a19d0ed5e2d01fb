import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore
import TestSupport
import Testing

@Suite struct LDIFReaderTests {
    /// The items in `text`, read in pieces of `size` bytes.
    private func items(_ text: String, pieces size: Int = 7) -> (items: [LDIFReader.Item], entries: Int) {
        var reader = LDIFReader()
        var items: [LDIFReader.Item] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            items += reader.read(bytes.octets.extracting(start..<min(start + size, bytes.count)))
        }
        items += reader.finish()
        return (items, reader.entries)
    }

    @Test(arguments: [1, 7, 100_000]) func `values are found, folded or not`(_ size: Int) {
        let text = """
            version: 1
            # userCertificate:: AAAA
            #
             userCertificate:: AAAA
            dn: cn=a
            userCertificate;binary:: AQ
             ID
             BA==
            mail: userCertificate:: AAAA
            USERSMIMECERTIFICATE:: BQY=\r
            userCertificate: text
            usercertificate:< file:///etc/passwd
            userCertificate:: *
            userCertificates:: AAAA

            dn: cn=b
            userCertificate:: BwgJ
            """
        let found = items(text, pieces: size)
        #expect(found.entries == 2)
        #expect(
            found.items == [
                .certificate([1, 2, 3, 4]), .certificate([5, 6]), .unreadable, .unreadable, .unreadable,
                .certificate([7, 8, 9]),
            ]
        )
    }

    @Test func `what a change deletes is passed over`() {
        let text = """
            dn: cn=a
            changetype: modify
            delete: userCertificate
            userCertificate:: AQ==
            -
            add: userCertificate
            userCertificate:: Ag==
            -
            replace: userCertificate
            userCertificate:: Aw==

            dn: cn=b
            changetype: add
            delete: x
            userCertificate:: BA==
            """
        #expect(items(text).items == [.certificate([2]), .certificate([3]), .certificate([4])])
    }

    @Test func `a line without end takes no memory, and the next one counts`() {
        let long = String(repeating: "A", count: LDIFReader.maximumLine + 100)
        #expect(
            items("userCertificate:: \(long)\nuserCertificate:: AQ==", pieces: 50_000).items == [
                .unreadable, .certificate([1]),
            ]
        )
        let folded = Array(repeating: " \(long.prefix(60_000))", count: 30).joined(separator: "\n")
        let text = "mail:: x\n\(folded)\nuserCertificate:: AQ==\n\(folded)\nuserCertificate:: AQ=="
        #expect(items(text, pieces: 50_000).items == [.unreadable, .certificate([1])])
    }

    @Test func `people of a directory become recipients, once`() async throws {
        let home = try await TestHome(of: ["alice"])
        func line(_ name: String) throws -> String {
            "userCertificate;binary:: \(Data(try Certificate(fixture: "\(name)/cert.pem").der).base64EncodedString())\n"
        }
        let text =
            try "dn: cn=c\n" + line("carol") + "\ndn: cn=x\nuserCertificate:: AAAA\n\ndn: cn=r\n" + line("revoked")
        for isFirst in [true, false] {
            var imports = DirectoryImport(into: home.store, at: .judged)
            let outcome = try await imports.run(MemorySource(Array(text.utf8)).reader())
            #expect(outcome.entries == 3 && outcome.leftOut == 1)
            #expect(isFirst ? (outcome.new, outcome.known) == (2, 0) : (outcome.new, outcome.known) == (0, 2))
        }
        let lookup = try await home.store.lookup(systemAnchors: false, lists: FolderLists(warn: { _ in }))
        let choice = try await lookup.choices(for: [AddressScope("carol@example.com")], at: .judged).choices.first
        #expect(choice?.selected?.source == .imported)
    }
}
