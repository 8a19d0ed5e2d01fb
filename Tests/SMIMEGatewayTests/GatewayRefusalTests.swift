import ByteStreams
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Testing

/// The effect of an error on a mail: whether it is returned or deferred, and the reply's text.
@Suite struct GatewayRefusalTests {
    @Test func `an outgoing message with a fault is returned to its sender`() {
        let faults: [(any Error, GatewayRefusal.Fault, String, String)] = [
            (MIMEError.limitExceeded(.headerBytes), .message, "5.6.0", "message: "),
            (MessageError.malformed("why"), .message, "5.6.0", "message: malformed: why"),
            (
                MessageError.noCommonCipher("who"), .recipient, "5.7.1",
                "message: there is no cipher that all recipients support: who"
            ),
            (MessageError.unusableSigner("why"), .recipient, "5.7.1", "message: why"),
            (StreamError.malformedBase64, .message, "5.6.0", "message: "),
            (GatewayError.loop(passes: 9), .message, "5.4.6", "mail loop: changed here 9 times already"),
            (GatewayError.refused(unmetRequirements: ["a", "b"]), .recipient, "5.7.1", "a, b"),
        ]
        for (error, fault, code, text) in faults {
            let refusal = GatewayRefusal(error, in: .outgoing)
            #expect(refusal.fault == fault && refusal.enhancedCode == code, "\(error)")
            #expect(refusal.explanation.hasPrefix(text), "\(refusal.explanation)")
        }
    }

    @Test func `incoming mail is deferred unless the fault is certainly the message's`() {
        for error in [
            MessageError.malformed("why"), MessageError.noCommonCipher("who"), StreamError.malformedBase64,
            MIMEError.malformedAddress("x", reason: "why"),
        ] as [any Error] { #expect(!GatewayRefusal(error, in: .incoming).isPermanent, "\(error)") }
        #expect(GatewayRefusal(MIMEError.limitExceeded(.headerBytes), in: .incoming).replyCode == 554)
        #expect(GatewayRefusal(GatewayError.loop(passes: 9), in: .incoming).replyCode == 554)
    }

    @Test(arguments: GatewayRole.allCases)
    func `mail is deferred for faults of the host, the store and the program`(_ role: GatewayRole) {
        let faults: [(any Error, String)] = [
            (KeystoreError.permissions(path: "/var/lib/smime", why: "open to others"), "4.3.5"),
            (KeystoreError.missing(path: "/var/lib/smime"), "4.3.5"),
            (KeystoreError.busy(path: "/var/lib/smime"), "4.3.0"), (TransportError("no"), "4.3.0"),
            (MIMEError.unreadable(.readFailed(code: 5)), "4.3.0"), (StreamError.cancelled, "4.3.0"),
            (CancellationError(), "4.3.0"), (SettingError.notUnderstood(.bounceText), "4.3.5"),
            (GatewayError.deferred(unmetRequirements: ["later"]), "4.7.1"),
        ]
        for (error, code) in faults {
            let refusal = GatewayRefusal(error, in: role)
            #expect(refusal.fault == .temporary && refusal.enhancedCode == code, "\(error)")
            #expect(refusal.replyCode == (code == "4.7.1" ? 450 : 451))
        }
    }

    @Test func `paths of this machine appear in the log but not in the bounce`() {
        let refusal = GatewayRefusal(KeystoreError.missing(path: "/var/lib/smime"), in: .outgoing)
        #expect(refusal.logText.contains("/var/lib/smime") && !refusal.sentence.contains("/var"))
        #expect(refusal.sentence.contains("smime"))
        #expect(GatewayRefusal.withoutFolders("see '/a/b/c': x/y@z and (/d/e)") == "see 'c': x/y@z and (e)")
    }

    @Test func `the address of the store's server and the role appear in the log but not in a reply`() {
        let place = "postgresql://gateway@db.internal:5432/mail"
        for error in [KeystoreError.busy(path: place), .missing(path: place), .permissions(path: place, why: "closed")]
        {
            let refusal = GatewayRefusal(error, in: .outgoing)
            #expect(refusal.logText.contains(place), "\(refusal.logText)")
            for part in ["postgresql", "gateway@", "db.internal", "5432"] {
                #expect(!refusal.sentence.contains(part), "\(refusal.sentence)")
            }
        }
    }

    @Test func `mail that the next hop refuses is deferred`() {
        let refusal = GatewayRefusal(undelivered: TransportError("sendmail: status 75"))
        #expect(refusal.explanation == "cannot send: sendmail: status 75" && refusal.replyCode == 451)
    }
}
