import CertificateDiscovery
import Testing

@Suite struct LDAPURLTests {
    @Test func `a URL names server, base, attributes, scope and filter`() throws {
        let url = try #require(
            LDAPURL("LDAPS://ldap.example.org:1636/ou=people,dc=example%2Cdc=org?userCertificate?one?(uid=%s)")
        )
        #expect(url.server == "ldaps://ldap.example.org:1636" && url.base == "ou=people,dc=example,dc=org")
        #expect(url.attributes == ["userCertificate"] && url.scope == .oneLevel)
        #expect(url.filter(for: "bob@example.com") == "(uid=bob@example.com)")
        let short = try #require(LDAPURL("ldap://[::1]"))
        #expect(short.base.isEmpty && short.scope == .subtree && short.attributes == LDAPURL.standardAttributes)
        #expect(short.filter(for: "bob@example.com") == "(mail=bob@example.com)")
        let local = try #require(LDAPURL("ldapi://%2Frun%2Fslapd.sock/dc=x???(%26(mail=%s)(cn=a%20b))"))
        #expect(local.server == "ldapi://%2Frun%2Fslapd.sock")
        #expect(local.filter(for: "b") == "(&(mail=b)(cn=a b))")
    }

    @Test(arguments: [
        ("*)(objectClass=*", "(mail=\\2a\\29\\28objectClass=\\2a)"), ("a\\b\0", "(mail=a\\5cb\\00)"),
        ("ä@x", "(mail=\\c3\\a4@x)"), ("o'neil+x@example.com", "(mail=o\\27neil+x@example.com)"),
    ])
    func `no address changes what the filter means`(address: String, filter: String) throws {
        #expect(try #require(LDAPURL("ldap://x/")).filter(for: address) == filter)
    }

    @Test(arguments: [
        "", "ldap:", "ldap://", "http://x/", "ldap:///dc=x", "ldap://user@x/", "ldap://x,y/", "ldap://x y/",
        "ldap://x/%zz",
        "ldap://x/%s", "ldap://x/%0", "ldap://x/%00", "ldap://x/??deep", "ldap://x/???(mail=bob)",
        "ldap://x/????!bindname=cn=x",
        "ldap://x/?a b", "ldap://x/%ff", "ldap://x/???(mail=%s)?????",
    ])
    func `what is no such URL is refused`(_ text: String) { #expect(LDAPURL(text) == nil) }
}
