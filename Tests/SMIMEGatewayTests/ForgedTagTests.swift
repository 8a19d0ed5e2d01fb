import Testing

/// Subject tags that users would mistake for those of the gateway, and words that they would not.
@Suite struct ForgedTagTests {
    private func subject(_ text: String) async throws -> String {
        let message = "From: b@x.test\nSubject: \(text)\n\nHello\n"
        let delivered = try await GatewayDelivery.text(of: Array(message.utf8), tags: true)
        let start = try #require(delivered.firstRange(of: "\nSubject: ")).upperBound
        let end = try #require(delivered.firstRange(of: "\n\nHello")).lowerBound
        return String(delivered[start..<end])
    }

    @Test(arguments: [
        "[signed bob@example.com]", "[signed-bob@example.com]", "[signed.bob@example.com]", "[signed bob＠example.com]",
        "[(signed: bob)]", "[*signed: bob*]", "[*signed bob@example.com*]", "[✔ signed: bob]",
        "[encrypted, signed: bob]",
        "[encrypted and signed]", "[encrypted & signed]", "[signed/encrypted]", "[Encrypted!]", "[signed – bob]",
        "[signed by bob]",
        "[signature: valid]", "[valid signature]", "[signature verified by us]", "[S/MIME signed: bob]", "[smime=pass]",
        "[digitally signed]", "[verified: bob@example.com]", "[encrypted for bob@example.com]", "[signed message]",
        "[signed: <bob@example.com>]", "[signed: bob@example.com", "[signed bob@example.com", "[encrypted, signed:",
        "signed: bob]", "[signed: [bob@example.com", "{signed: bob}", "{encrypted}", "⟨signed: bob⟩", "《signed: bob》",
        "«signed: bob»",
        "[sign\n ed: bob]", "[\n signed: bob]", "[s i g n e d: bob]", "[s.i.g.n.e.d: bob]", "[s1gned: bob]",
        "[slgned: bob]",
        "[signecl: bob]", "[3ncrypted]", "[si\u{2800}gned: bob]", "[\u{2800}signed: bob]", "[si\u{E000}gned: bob]",
        "[si\u{10FFFD}gned: bob]", "[sign\u{FE0F}ed: bob]", "[sign\u{E0100}ed: bob]", "[si\u{378}gned: bob]",
        "[si\u{FFFC}gned: bob]",
        "[\u{903}signed: bob]", "[\u{93E}signed: bob]", "[$igned: bob]", "[si\u{8}gned: bob]", "[si\u{1B}gned: bob]",
        "[\u{1B}[1msigned: bob\u{1B}[0m]", "\u{1B}[signed: bob]",
        "[\u{9B}1msigned: bob]",
        "\u{1B}[1m[signed: bob]\u{1B}[0m", "[signed: bob\u{7F}]", "[signᴇƌ: bob]",
        // `[signed]` in full-width letters, in ISO-2022-JP.
        "\u{1B}$B!N#s#i#g#n#e#d!O\u{1B}(B",
    ])
    func `look-alikes of the gateway's subject tags are removed`(_ tag: String) async throws {
        #expect(try await subject("\(tag) hello").hasSuffix("hello"))
        let left = try await subject("\(tag) hello").lowercased()
        #expect(["hello", "[bob@example.com hello"].contains(left), "\(left)")
    }

    @Test(arguments: [
        "[signed-off] patch", "[signed off] patch", "[Signed-off-by] trailers", "[open] plans",
        "Re: [list] signed contract",
        "[encrypted-mail-list] hello", "[encrypted-mail@lists.example.org] digest", "[signed.pdf] scan",
        "[signed copy] lease",
        "[signed contract.pdf] lease", "[contract, signed] lease", "[PATCH 1/3] signed integers", "[unsigned] x",
        "[co-signed] x",
        "[re-signed] x", "[not signed] x", "[not encrypted] x", "[unencrypted: mail] x",
        "[assigned: bob@example.com] ticket",
        "[assigned by bob] ticket", "[signal] x", "[signing] party", "[signatures] x", "[signature required] x",
        "[sign: here] x",
        "[mail] [valid] [ok] x", "[verified] account", "(signed) contract", "signed: sealed", "[bob@example.com] hello",
        "{list} a < b > c [x]", "[encrypt] x",
    ])
    func `other text in brackets is kept`(_ text: String) async throws {
        #expect(try await subject(text) == text)
    }

    @Test(arguments: [
        "«Zitat» und ›mehr‹", "会議【重要】資料", "[уведомление] текст", "[署名済み] x", "[sägned-ish] x",
    ])
    func `subjects in other languages are kept`(_ text: String) async throws {
        #expect(try await subject(text) == text)
    }

    @Test func `a subject in ISO-2022-JP without a named character set is readable`() async throws {
        // The subject is テスト.
        #expect(try await subject("\u{1B}$B%F%9%H\u{1B}(B") == "=?utf-8?B?44OG44K544OI?=")
    }
}
