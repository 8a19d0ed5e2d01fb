import SMIMEServer
import Testing

@Suite struct EndpointTests {
    @Test(
        "listeners are read as they are written",
        arguments: [
            "outgoing=lmtp:127.0.0.1:10025", "incoming=milter:unix:/run/smime/in", "outgoing=smtp:[::1]:10026",
            "incoming=smtp:fd:in", "incoming=lmtp:mail.example.org:24",
        ]
    )
    func reading(text: String) throws {
        #expect(try #require(Endpoint(text)).description == text)
    }

    @Test(
        "anything else is none",
        arguments: [
            "", "outgoing", "outgoing=", "outgoing=lmtp", "outgoing=lmtp:", "out=lmtp:127.0.0.1:1",
            "outgoing=http:127.0.0.1:1",
            "outgoing=lmtp:127.0.0.1", "outgoing=lmtp:127.0.0.1:0", "outgoing=lmtp:127.0.0.1:65536",
            "outgoing=lmtp::25",
            "outgoing=lmtp:::1:25", "incoming=lmtp:unix:", "incoming=lmtp:fd:", "incoming=lmtp:fd:a b",
            "incoming=lmtp:unix:/\(String(repeating: "x", count: 107))",
        ]
    )
    func refusal(text: String) {
        #expect(Endpoint(text) == nil)
    }

    @Test func `a time in the past is no grace period`() throws {
        var settings = ServerSettings()
        settings.listeners = [try #require(Endpoint("incoming=milter:unix:/run/smime/in"))]
        settings.grace = 0
        try settings.check()
        settings.grace = -5
        #expect(throws: ServerError.settings("--grace takes 0 or more")) { try settings.check() }
    }
}
