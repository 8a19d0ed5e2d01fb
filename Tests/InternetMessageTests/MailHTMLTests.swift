import InternetMessage
import Testing

@Suite struct MailHTMLTests {
    @Test(arguments: [
        ("<p>one<p>two", "one\n\ntwo"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<ul><li>one<li>two</ul>after", "- one\n- two\n\nafter"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("  many \n blanks <b>here</b> ", "many blanks here"),
        ("?a=1&copy=2 &copy; &copy 3&copy", "?a=1&copy=2 © © 3©"),
        ("x&lt;y &amp;&#8364;&#x20AC; &unknown; &", "x<y &€€ &unknown; &"),
        ("&#x0000000000041;&#00000000000066;", "AB"),
        ("<script>if (a < b) alert()</script>text", "text"),
        ("<STYLE>p{}</sTyLe >text", "text"),
        ("<!-- <p>no --> yes", "yes"),
        ("<a href='https://example.com/x'>click</a>", "click <https://example.com/x>"),
        ("<a href='https://example.com/'>https://example.com/</a>", "https://example.com/"),
        (
            "<a href='https://bank.test:\(String(repeating: "a", count: 400))@evil.test/x'>b</a>",
            "b <https://…@evil.test/x>"
        ),
        ("<a href='https://a.test/b@c'>b</a>", "b <https://a.test/b@c>"),
        ("<a href='https://evil.test/\u{301}@bank.test/x'>b</a>", "b <https://evil.test/\u{301}@bank.test/x>"),
        ("<a href='https:bank.test:1@evil.test/x'>b</a>", "b <https:…@evil.test/x>"),
        ("<a href='https:\\\\bank.test:1@evil.test/x'>b</a>", "b <https:\\\\…@evil.test/x>"),
        (
            "<a href='https://bank.test.\(String(repeating: "a", count: 400)).evil.test/x'>b</a>",
            "b <https://…\(String(repeating: "a", count: 290)).evil.test/x>"
        ),
        ("<a href=' java\nscript:alert(1)'>click</a>", "click"),
        ("<img alt=logo src=x><img src=y>", "[logo]"),
        ("1 < 2 <3", "1 < 2 <3"),
        ("cut <b", "cut"),
        ("<tr><td>a</td><td>b</td></tr><tr><td>c", "a b\nc"),
    ])
    func `HTML as text is its words in lines`(html: String, text: String) {
        #expect(MailHTML(html).text == text)
    }

    @Test(arguments: ["</br>", "</p>", "<br></br>", "</script>"])
    func `Safe HTML is not nested deeper than its limit`(end: String) {
        let html = MailHTML(
            String(repeating: String(repeating: "<div>", count: 200) + String(repeating: end, count: 200), count: 3)
        )
        #expect(html.safe.split(separator: "<div>", omittingEmptySubsequences: false).count == 201)
    }

    @Test(arguments: [
        "<a href=\"javascript:x\">t</a>", "<img src=x onerror=y>", "<p style='x' onclick=y>t",
        "<svg><script>x</script></svg>",
        "<math><mtext><style><img src=x onerror=y>", "<iframe srcdoc='<p>x'>t</iframe>",
        "<td colspan='1\" onclick=y'>t",
        "<p/onclick=y>t", "<<p>onclick=y", "<form action=x><input><button>t", "<meta http-equiv=refresh content=0>t",
        "<td align='\"><script>'>t", "</p onclick=y>", "<p \"onclick=y\">t",
        "<noscript><p title='</noscript><img src=x onerror=y>'>",
        "&lt;img src=x onerror=y&gt;", "<textarea></textarea><img src=x>", "<template><p onclick=y></template>t",
    ])
    func `Safe HTML has no tags and attributes but those of the list`(html: String) throws {
        var rest = Substring(MailHTML(html).safe)
        while let start = rest.firstIndex(of: "<") {
            let tag = try #require(
                rest[start...].prefixMatch(of: /<\/?[a-z1-6]+( (align|colspan|rowspan)="[a-z0-9]+")*>/)
            )
            #expect(
                !["a", "form", "iframe", "img", "input", "meta", "object", "script", "style", "svg"].contains(
                    name(tag.output.0)
                )
            )
            rest = rest[tag.range.upperBound...]
        }
        #expect(!rest.contains("<"))
    }

    private func name(_ tag: Substring) -> String {
        String(tag.drop { "</".contains($0) }.prefix { $0.isLetter || $0.isNumber })
    }

    @Test func `Deep nesting and endless tags cost little`() {
        let deep = MailHTML(String(repeating: "<div>", count: 100_000) + "x").safe
        #expect(deep.utf8.count < 2000)
        #expect(MailHTML(String(repeating: "<script", count: 50_000)).text.isEmpty)
        #expect(MailHTML("<p " + String(repeating: "a=b ", count: 100_000) + ">x").text == "x")
    }
}

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("a\u{1B}[31;1mred\u{1B}[0m", "ared"), ("a\u{1B}]0;t\u{07}b", "a]0;tb"), ("a\u{9B}2Jb", "ab"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("x\u{202E}y\u{2066}z\u{200F}", "xyz"), ("tab\tstays", "tab\tstays"), ("\u{0}\u{7F}\u{8}", ""),
        ("cut \u{1B}[12", "cut "),
        ("👩\u{200D}💻", "👩\u{200D}💻"), ("a\u{200D}b", "ab"), ("Grüße €", "Grüße €"), ("a\u{2028}b", "a\nb"),
    ])
    func `What would act on a terminal is taken out`(text: String, shown: String) {
        #expect(Array(text.withoutTerminalControls.unicodeScalars) == Array(shown.unicodeScalars))
    }

    @Test func `A name is one line`() { #expect("a\nb\u{202E}\tc".asDisplayedLine == "a b c") }
}
