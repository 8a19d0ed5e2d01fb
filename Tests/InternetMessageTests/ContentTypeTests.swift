import InternetMessage
import Testing

@Suite struct ContentTypeTests {
    @Test(arguments: [
        ("text/plain; charset=utf-8", "text/plain", "charset", "utf-8"),
        ("TEXT / Plain (c); (d) Charset = \"u\\\"8\" (e)", "text/plain", "charset", "u\"8"),
        ("multipart/mixed; boundary=\"a;b\"; x=y", "multipart/mixed", "boundary", "a;b"),
        ("a/b; name*=utf-8'en'caf%C3%A9", "a/b", "name", "café"),
        ("a/b; name*0*=iso-8859-1''caf%E9; name*1=\" bar\"; name*2*=%21", "a/b", "name", "café bar!"),
        ("a/b; name*1=b; name*0=a", "a/b", "name", "ab"),
        ("a/b; name=x; name=y", "a/b", "name", "x"),
        ("a/b; name=my file.txt; c=d", "a/b", "name", "my file.txt"),
        ("a/b;;; ; c=d;", "a/b", "c", "d"),
        ("a/b; c=\"never closed", "a/b", "c", "never closed"),
        ("a/b; junk; c=d", "a/b", "c", "d"),
        (
            "application/pkcs7-mime; smime-type=enveloped-data; name=\"smime.p7m\"", "application/pkcs7-mime", "name",
            "smime.p7m"
        ),
    ])
    func `a media type and its parameters are read`(text: String, name: String, parameter: String, value: String) throws
    {
        let type = try #require(ContentType(text))
        #expect(type.name == name)
        #expect(type.parameters[parameter] == value)
    }

    @Test(arguments: ["", "text", "/plain", "text/", "(x)", ";a=b"])
    func `a media type without type or subtype is ignored`(text: String) { #expect(ContentType(text) == nil) }

    @Test(arguments: [
        ("bnd", "bnd"), ("bnd  ", "bnd"), ("", nil),
        (String(repeating: "b", count: 70), String(repeating: "b", count: 70)),
        (String(repeating: "b", count: 71), nil),
    ])
    func `a boundary has 1 to 70 characters and does not end with a blank`(boundary: String, expected: String?) {
        #expect(ContentType("multipart/mixed; boundary=\"\(boundary)\"")?.boundary == expected?.bytes)
    }

    @Test func `a Content-Disposition gives the file name`() throws {
        let text = "Content-Disposition: ATTACHMENT; filename*0*=utf-8''%e2%82%ac; filename*1=.txt\n\n"
        let field = try #require(try HeaderBlock(parsing: text.bytes).first("content-disposition"))
        let disposition = try #require(ContentDisposition(field: field))
        #expect(disposition.kind == "attachment")
        #expect(disposition.filename == "€.txt")
    }

    @Test(arguments: [";", "=", "\"", "(", "a=b;", "a*0=b;", "a*=%", "\\"])
    func `floods of one token end`(token: String) {
        #expect(ContentType("a/b;" + String(repeating: token, count: 100_000))?.name == "a/b")
    }
}
