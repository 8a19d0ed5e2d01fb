import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport

extension TestHome {
    /// A store with the keys of `people` and the certificates of `others`; by default those of Alice and of three others.
    static func office(
        of people: [String] = ["alice"],
        knowing others: [String] = ["bob", "p384", "p521"]
    ) async throws -> TestHome { try await TestHome(of: people, knowing: others) }

    /// Opens mail with the keys and anchors of the store.
    var opener: MessageOpener { MessageOpener(StoreKeyProvider(store, systemAnchors: false), at: Date.judged) }

    /// The plan for a message from `sender`, according to the store's settings.
    func plan(
        from sender: String,
        to recipients: [String],
        header: String? = nil,
        flags: ProtectionRequest = ProtectionRequest(),
        options: ValidationOptions = ValidationOptions()
    ) async throws -> OutgoingPlan {
        let filter = OutgoingFilter(
            store: store,
            time: Date.judged,
            systemAnchors: false,
            options: options,
            flags: flags
        )
        let header = header ?? "From: \(sender)\nTo: \(recipients.joined(separator: ", "))\n"
        return try await filter.plan(
            MemorySource(Array("\(header)\nMeet me at eight.\n".utf8)),
            from: .address(EmailAddress(sender)),
            to: recipients.map { try EmailAddress($0) }
        )
    }
}

extension OutgoingPlan {
    /// The bytes of the message at `index`.
    func source(_ index: Int) throws -> MemorySource {
        let sink = MemorySink()
        try write(messages[index], to: sink)
        return MemorySource(sink.bytes)
    }
}
