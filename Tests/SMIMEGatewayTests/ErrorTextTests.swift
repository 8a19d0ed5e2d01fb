import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Testing

/// The descriptions of the libraries' errors in logs.
@Suite struct ErrorTextTests {
    private static func texts() throws -> [(any LocalizedError, String)] {
        let alice = try EmailAddress("alice@example.com")
        return [
            (CMSError.decryptionFailed, "decryption failed"),
            (CMSError.limitExceeded("file size"), "rejected, because it exceeds a limit: file size"),
            (CMSError.malformed(.pkcs12, "it is empty"), "malformed PKCS#12 file: it is empty"),
            (CMSError.wrongPassphrase, "wrong passphrase"),
            (GatewayError.loop(passes: 8), "mail loop: changed here 8 times already"),
            (
                KeystoreError.addressTaken("a@example.com", by: alice),
                "a@example.com: belongs to the account alice@example.com already"
            ),
            (KeystoreError.busy(path: "db"), "db: in use by another process for too long"),
            (KeystoreError.cannotCreate(path: "db", code: EACCES), "db: cannot create: Permission denied"),
            (KeystoreError.locked(path: "db", why: nil), "db: locked: a passphrase is needed, and none was given"),
            (KeystoreError.unknownAccount(alice), "alice@example.com: no such account"),
            (MIMEError.limitExceeded(.depth), "parts nested more than 50 deep"),
            (MIMEError.unreadable(.changedWhileReading), "the input changed while it was being read"),
            (MessageError.certificatesOnly, "no content: it contains only certificates"),
            (
                MessageError.cipherBelowFloor(.aes128CBC, floor: .aes256GCM),
                "aes-128-cbc is weaker than aes-256-gcm, the weakest cipher that is allowed"
            ),
            (MessageError.defective(.missingBoundary), "malformed: \(MIMEDefect.missingBoundary.text)"),
            (MessageError.notEncrypted, "not encrypted"),
            (MessageError.tooManyLayers, "rejected, because it has more than 8 layers"),
            (SourceOutage("no answer"), "no answer"),
            (StreamError.readFailed(code: EIO), "cannot read: Input/output error"),
            (TransportError("sendmail: status 75"), "sendmail: status 75"),
        ]
    }

    @Test func `every error is a sentence`() throws {
        for (error, text) in try Self.texts() {
            #expect("\(error)" == text)
            #expect(error.localizedDescription == text)
            #expect((error as any Error as NSError).localizedDescription == text)
        }
    }

    @Test func `temporary and permanent errors are distinguished`() throws {
        let alice = try EmailAddress("alice@example.com")
        for error in [KeystoreError.busy(path: "db"), .cancelled, .openingTimedOut(path: "db")] {
            #expect(error.isTemporary)
        }
        for error in [KeystoreError.unknownAccount(alice), .locked(path: "db", why: nil), .unexpected("odd")] {
            #expect(!error.isTemporary)
        }
    }
}
