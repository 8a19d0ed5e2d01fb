import CertificateDiscovery
import Testing

@Suite struct ServiceURLTests {
    @Test func `HTTP URLs are parsed`() {
        let plain = ServiceURL("HTTP://crl.example.com")
        #expect(plain?.authority == "crl.example.com")
        #expect(plain?.path == "/")
        let full = ServiceURL("http://[2001:db8::1]:8080/a/b.crl?x=1#y")
        #expect(full?.host == "2001:db8::1")
        #expect(full?.authority == "[2001:db8::1]:8080")
        #expect(full?.path == "/a/b.crl?x=1")
        #expect(ServiceURL("http://a?b")?.path == "/?b")
    }

    @Test(arguments: [
        "https://example.com/", "ldap://example.com/", "file:///etc/passwd", "http://", "http:///a", "http://a:0/",
        "http://a:99999/", "http://a:1x/", "http://user@a/", "http://user:word@a/", "http://a b/", "http://a/\r\nX: y",
        "http://a/\0", "http://ä.example/", "http://[::1", "http://[a]b/", "http://a\u{7F}/",
        "http://a/" + String(repeating: "x", count: 4000),
    ])
    func `anything else is refused`(text: String) {
        #expect(ServiceURL(text) == nil)
    }
}
