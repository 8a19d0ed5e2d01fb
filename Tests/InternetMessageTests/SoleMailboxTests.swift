import InternetMessage
import Testing

/// From fields that are, or are not, exactly one mailbox that every program reads alike.
@Suite struct SoleMailboxTests {
    private static func read(_ body: String) throws -> Mailbox? {
        let header = try HeaderBlock(parsing: Array("From: \(body)\r\n\r\n".utf8))
        return header.first("From").flatMap { Mailbox(soleIn: $0) }
    }

    @Test(arguments: [
        "carol@example.org", "<carol@example.org>", "Carol <carol@example.org>", "\"Team, Carol\" <carol@example.org>",
        "\"Carol: at; work\" <carol@example.org>", "J. R. Carol <carol@example.org>",
        "Carol O'Brien <carol@example.org>", "carol@example.org (Carol)", "(Carol) carol@example.org",
        "Carol (her (own) name) <carol@example.org> (work)",
        "Pete(A nice \\) chap) <carol(his account)@example.org(host)>",
        "=?utf-8?q?Team=2C_Carol?= <carol@example.org>", "J\u{F6}rg <carol@example.org>",
        "Carol\r\n <carol@example.org>", "\"Carol, Dr.\r\n Jones\"\r\n\t<carol@example.org>",
        "\"Jones, Carol (IT,\r\n Support)\" <carol@example.org>",
        "\"Jones,\r\n Carol Department of Names and Technology\"\r\n <carol@example.org>",
        "\"Wolfeschlegelsteinhausenbergerdorff,\r\n Carol (Corporate IT)\" <carol@example.org>",
        "\"Dr. Carol Jones;\r\n Office\" <carol@example.org>",
        "\"Carol Jones [Corp: Support & Services]\r\n Technology\" <carol@example.org>",
        "Carol<carol@example.org>",
        "\"carol@example.org\" <carol@example.org>", "\"Carol \\\"CJ\\\" Jones\" <carol@example.org>",
        "\"=?utf-8?Q?Carol_(IT),_Dr.?=\" <carol@example.org>", "carol@example.org (Carol [IT])",
        "=?utf-8?Q?Carol?= =?utf-8?q?_Jones?= <carol@example.org>", "=?UTF-8?Q?Carol Jones?= <carol@example.org>",

        "CAROL <Carol@Example.ORG>", "\"carol\"@example.org", "Carol at home <carol@example.org>",
        "Carol & Co. <carol@example.org>", "\"\" <carol@example.org>",
    ])
    func `common forms of From are read as one mailbox`(body: String) throws {
        let mailbox = try #require(try Self.read(body))
        #expect(mailbox.address == (try EmailAddress("carol@example.org")))
        #expect(!mailbox.displayNamePosesAsAddress)
    }

    @Test func `international domains and local parts are read`() throws {
        #expect(try Self.read("Carol <carol@b\u{FC}cher.example>")?.address.asciiDomain == "xn--bcher-kva.example")
        #expect(try Self.read("j\u{F6}rg@example.org")?.address.isInternational == true)
    }

    @Test func `a name in an unknown character set is no line break`() throws {
        #expect(try Self.read("=?x-none?b?Y2Fyb2w=?= =?iso-2022-kr?b?GyQpQw4hIQ8=?= <carol@example.org>") != nil)
    }

    @Test(arguments: [
        "", "carol", "carol@example.org, bob@example.org", "carol@example.org,", ",carol@example.org",
        "carol@example.org;", "Carol; <carol@example.org>", "Carol: <carol@example.org>",
        "Friends: carol@example.org;", "Carol: carol@example.org", "<@a.test:carol@example.org>",
        "<@a.test,@b.test:carol@example.org>", "Carol <carol@example.org> x", "<carol@example.org><bob@example.org>",
        "<bob@example.org> carol@example.org", "bob@example.org <carol@example.org>", "Carol [x] <carol@example.org>",
        "=?utf-8?q?carol?=@example.org", "<=?utf-8?q?carol?=@example.org>", "carol@=?utf-8?q?example?=.org",
        "\"carol@example.org\"@evil.test", "\"carol,x\"@example.org", "carol@[192.0.2.1]",
        "Carol \\x <carol@example.org>",
        "\"Carol <carol@example.org>", "Carol (x <carol@example.org>", "(x\") \"y\" <carol@example.org>",
        "Carol (a, b) <carol@example.org>", "carol(<bob@evil.test>)@example.org", "carol@example.org\u{0}",
        "Carol\u{B}<carol@example.org>", "Carol\r<carol@example.org>", "Carol\u{85}<carol@example.org>",
        ". <carol@example.org>", "J.<carol@example.org>", "<carol@example.org\r\n >", "\"\"@example.org",
        "\r<carol@example.org>",
        "carol@exa mple.org",
        "carol@example.org bob@example.org",
        "<carol@example.org", "carol@example.org>", "<<carol@example.org>>",
        // Python ends comments and quoted strings at a line break.
        "=?utf-8?q?=0A?= <carol@example.org>", "(\r\n bob. carol@example.org .evil.test) <carol@example.org>",
        "\"bob\r\n \" <carol@example.org>",
        "\"Carol J.\r\n x, bob\" <carol@example.org>", "\"Carol J.\r\n bob@evil.test\" <carol@example.org>",
        "carol@example.org (\r\n evil.test!bob)", "(Carol\n Jones) <carol@example.org>", "\"a b\r\n c\"@example.org",
        "bob \"a b,\r\n c\" <carol@example.org>", "evil.test!bob \"a b\r\n c\" <carol@example.org>",
        "(x) \"a b\r\n c\" <carol@example.org>", "\"a b\r\n c\".x <carol@example.org>",
        "\"a b\r\n c\" (x) <carol@example.org>",
        "\"Carol Inc\r\n a] bob\" <carol@example.org>", "\"Carol Inc\r\n [bob] x\" <carol@example.org>",
        "\"Carol Inc\r\n a) bob\" <carol@example.org>", "\"Carol Inc\r\n (a bob\" <carol@example.org>",
        // Python decodes such words, too, and raises an error.
        "=?x-none?q?=0A?= <carol@example.org>", "=?utf-8?b?Cg?= <carol@example.org>",
        "=?utf-8?q?=0a=FF?= <carol@example.org>", "=?utf-8?q?=0A x?= <carol@example.org>",
        "=?utf-8?q?=0D <carol@example.org>",
        // Thunderbird finds other authors in these.
        "=?      \"CEO <ceo@(y)bank.example> =?x?q?a?=\" <carol@example.org>",
        "=?u?x? \"CEO <ceo@(y)bank.example>\" <carol@example.org> (=?x?q?abc?=)",
        "CEO ([) \"]) <ceo@(y)bank.example> x\" <carol@example.org>", "(a[b) \"c], CEO: (\" <carol@example.org>",
        "=?utf-8?q?a\" b?= \"c\" <carol@example.org>", "(=?utf-8?q?a) b?= <carol@example.org>",
        "=?x?q?(?= ceo@bank(y )(z).example \\=?x?q?(?= =?x?q?)?= =?x?q?)?= <carol@example.org>",
        "=?utf-8?Q?Carol_(IT)?= <carol@example.org>", "=?utf-8 <carol@example.org>",
        "=?utf-8?q?alice=40bank.test <carol@example.org>",
        "\"=?utf-8?q?a\" <carol@example.org>", "(a]b) <carol@example.org>",
        // Ruby's mail library reads these as another address.
        "ceo. (x) <carol@example.org>", "bank.example. (CEO) <carol@example.org>",
        // Java's mail library reads these as the local address carol.
        "carol(bob)@example.org", "carol (bob) @ example.org", "\"carol\"(x)@example.org", "carol@(x)example.org",
    ])
    func `a From that programs may read differently is no mailbox`(body: String) throws {
        #expect(try Self.read(body) == nil)
    }

    @Test func `an address that is not UTF-8 is no mailbox`() throws {
        func read(_ body: [UInt8]) throws -> Mailbox? {
            let header = try HeaderBlock(parsing: Array("From: ".utf8) + body + Array("\r\n\r\n".utf8))
            return header.first("From").flatMap { Mailbox(soleIn: $0) }
        }
        #expect(try read(Array("J".utf8) + [0xF6] + Array("rg <carol@example.org>".utf8)) != nil)
        #expect(try read(Array("j".utf8) + [0xF6] + Array("rg@example.org".utf8)) == nil)
    }

    @Test(arguments: [
        ("\"alice@bank.test\" <carol@example.org>", true), ("alice=40bank <carol@example.org>", false),
        ("=?utf-8?q?alice=40bank=2Etest?= <carol@example.org>", true),
        ("=?utf-8?b?YWxpY2VAYmFuay50ZXN0?= <carol@example.org>", true),
        ("=?utf-8?q?ali?= =?utf-8?q?ce=40bank=2Etest?= <carol@example.org>", true),
        ("\"=?utf-8?q?alice=40bank=2Etest?=\" <carol@example.org>", true),
        ("x=?utf-8?q?=40bank=2Etest?= <carol@example.org>", true),
        ("=?x-unknown?q?alice=40bank=2Etest?= <carol@example.org>", true),
        ("=?utf-7?q?alice+AEA-bank.test?= <carol@example.org>", true),
        // Base64 that programs decode although it is malformed: other characters, and early padding.
        ("=?utf-8?b?YWxpY2VAYmFu!ay50ZXN0?= <carol@example.org>", true),
        ("=?utf-8?b?YWxpY2VAYmFuay50ZXN0-?= <carol@example.org>", true),
        ("\"=?utf-8?b?YWxpY2V.AYmFuay50ZXN0?=\" <carol@example.org>", true),
        ("=?utf-8?b?YWxpY2U=QGJhbmsudGVzdA==?= <carol@example.org>", true),
        ("=?utf-8?b?YWxpY2VAYmFuay50ZXN0YQ==YQ?= <carol@example.org>", true),
        ("=?utf-8?b?SsO8cmdlbg?= <carol@example.org>", false),
        ("=?utf-8?b?SsO8?= =?utf-8?b?cmdlbg==?= <carol@example.org>", false),
        ("\"alice @ bank.test\" <carol@example.org>", true), ("\"alice \u{FF20} bank.test\" <carol@example.org>", true),
        ("\"al\u{200B}ice\u{FE6B}bank.test\" <carol@example.org>", true),
        ("carol@example.org (alice@bank.test)", true), ("\"Carol <alice@bank.test>\" <carol@example.org>", true),
        ("\"carol@example.org.evil.test\" <carol@example.org>", true),
        ("\"Carol @ work\" <carol@example.org>", false), ("\"Carol (@carol)\" <carol@example.org>", false),
        ("\"'CAROL@example.org'\" <carol@example.org>", false),
        ("\"Carol Ltd. (carol@example.org)\" <carol@example.org>", false),
        ("\"carol@example.org's team\" <carol@example.org>", false),
        ("(bob. carol@example.org .evil.test) <carol@example.org>", true),
        ("\"Write to carol@example.org.\" <carol@example.org>", false),
        ("\"o'brien@example.org\" <o'brien@example.org>", false),
        ("\"carol@b\u{FC}cher.example\" <carol@xn--bcher-kva.example>", false),
    ])
    func `a display name that shows another address is detected`(body: String, poses: Bool) throws {
        #expect(try Self.read(body)?.displayNamePosesAsAddress == poses)
    }

    @Test(arguments: ["(", "\"", "<", "=?", "@", "a@", "\\", "a ", "((", "(\\", ". ", "=?utf-8?q?", "\n "])
    func `floods of one token end`(token: String) throws {
        #expect(try Self.read(String(repeating: token, count: 60_000 / token.count)) == nil)
        let name = String(repeating: token.filter { !"\"\\(<".contains($0) }, count: 20_000)
        _ = try Self.read("\"\(name)\" <carol@example.org>")?.displayNamePosesAsAddress
    }
}
