package import ByteStreams
import CMSSyntax
package import Foundation
import SMIMEAgent
package import SMIMEStore

/// A mail as a mail server hands it over.
package struct GatewayMail: Sendable {
    package let role: GatewayRole
    package let source: any ByteSource
    /// The envelope sender.
    package let sender: EnvelopeSender
    /// The envelope recipients as the mail server wrote them.
    package let recipients: [String]
    /// The journal's name of the mail; nil if no delivery of it is recorded.
    package let entry: DeliveryJournal.Entry?

    package init(
        _ role: GatewayRole,
        _ source: any ByteSource,
        from sender: EnvelopeSender,
        to recipients: [String],
        entry: DeliveryJournal.Entry? = nil
    ) {
        self.role = role
        self.source = source
        self.sender = sender
        self.recipients = recipients
        self.entry = entry
    }

    /// The Message-ID as it is written; nil if there is none within the first 64 KiB.
    package var messageID: String? { UnparsedMessage.messageID(of: source) }

    /// The permanent refusal of an envelope with addresses that are not safe to pass to a mail server; nil if all are.
    package static func envelopeFault(from sender: EnvelopeSender, to recipients: [String]) -> GatewayRefusal? {
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
    /// The journal's name of the message in `source`: the mail server's queue id and the SHA-256 of the bytes, since a queue id may be used
    /// again for another message.
    ///
    /// - Parameters:
    ///   - queueID: the mail server's name for the message; empty if it is known by its bytes alone.
    ///   - server: the name of the mail server, where several have the same filter.
    ///   - role: which way the message goes, where one mail server has both under one name.
    ///   - recordsSince: older records are those of another message with the same name and bytes.
    /// - Throws: what reading throws.
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
