package import ByteStreams
import CMSSyntax
package import Foundation
package import InternetMessage
import LibCrypto
package import SMIME
import SMIMEAgent
package import SMIMEStore

/// A mail as received from a mail server.
package struct GatewayMail: Sendable {
    /// The direction of the mail.
    package let role: GatewayRole
    /// The bytes of the message.
    package let source: any ByteSource
    /// The structure of the message in `source`; nil if it was not read yet.
    package let structure: Entity?
    /// The envelope sender.
    package let sender: EnvelopeSender
    /// The envelope recipients as the mail server wrote them.
    package let recipients: [String]
    /// Identifies the mail in the journal; nil if its deliveries are not recorded.
    package let entry: DeliveryJournal.Entry?

    package init(
        _ role: GatewayRole,
        _ source: any ByteSource,
        from sender: EnvelopeSender,
        to recipients: [String],
        entry: DeliveryJournal.Entry? = nil
    ) {
        self.init(role, source, structure: nil, from: sender, to: recipients, entry: entry)
    }

    /// A mail with a message whose structure is known. The mail's deliveries are not recorded.
    package init(_ role: GatewayRole, _ message: LocatedEntity, from sender: EnvelopeSender, to recipients: [String]) {
        self.init(role, message.source, structure: message.entity, from: sender, to: recipients, entry: nil)
    }

    private init(
        _ role: GatewayRole,
        _ source: any ByteSource,
        structure: Entity?,
        from sender: EnvelopeSender,
        to recipients: [String],
        entry: DeliveryJournal.Entry?
    ) {
        self.role = role
        self.source = source
        self.structure = structure
        self.sender = sender
        self.recipients = recipients
        self.entry = entry
    }

    /// The structure of the message; nil if the message exceeds a limit.
    ///
    /// - Throws: `MIMEError.unreadable`
    func readStructure() throws(MIMEError) -> Entity? {
        if let structure { return structure }
        return try MIMEReader.messageWithinLimits(in: source)
    }

    /// The Message-ID as written, but without blanks; nil if there is none within the first 64 KiB.
    package var messageID: String? { UnparsedMessage.messageID(of: source) }

    /// The SHA-256 of the first 64 KiB: the same at each attempt to send the message, but not in another message. Nil if they
    /// cannot be read.
    var digestOfBeginning: [UInt8]? {
        (try? source.bytes(in: 0..<min(source.count, 65_536))).flatMap { try? DigestAlgorithm.sha256.digest($0) }
    }

    /// Rejects an unsafe envelope and an empty message.
    func checkEnvelopeAndContent() throws(GatewayRefusal) {
        if let refusal = Self.envelopeRefusal(from: sender, to: recipients) { throw refusal }
        guard source.count > 0 else { throw GatewayRefusal.emptyMessage() }
    }

    /// The permanent refusal of an envelope with addresses that are unsafe to pass to a mail server; nil if all are safe.
    package static func envelopeRefusal(from sender: EnvelopeSender, to recipients: [String]) -> GatewayRefusal? {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
        let broken = recipients.filter {
            $0.isEmpty || $0.hasPrefix("-") || $0.unicodeScalars.contains(where: isControl)
        }
        guard broken.isEmpty else { return .malformedRecipients(broken) }
        guard !sender.text.hasPrefix("-"), !sender.text.unicodeScalars.contains(where: isControl) else {
            return .malformedSender(sender)
        }
        return nil
    }
}

extension DeliveryJournal.Entry {
    /// Identifies the message in `source` by the mail server's queue ID and the SHA-256 of the bytes, since a queue ID may
    /// be reused for another message.
    ///
    /// - Parameters:
    ///   - queueID: the mail server's ID for the message; empty if only the bytes identify it.
    ///   - server: the name of the mail server, if several servers use the same filter.
    ///   - role: the direction of the message, if one mail server uses the same IDs for both directions.
    ///   - recordsSince: records before this time belong to another message with the same ID and bytes.
    /// - Throws: what reading the source throws.
    package init(
        queueID: String,
        server: String? = nil,
        role: GatewayRole? = nil,
        of source: any ByteSource,
        recordsSince: Date? = nil
    ) throws {
        let digest = try SignedDataWriter.digest(.sha256) { try source.reader().copy(to: $0) }
        let name = [role?.rawValue, server, queueID].compactMap(\.self).joined(separator: " ")
        self.init(queueID: name, digest: digest.0, recordsSince: recordsSince)
    }
}
