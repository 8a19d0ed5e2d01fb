import ByteStreams
import Foundation
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

/// The deliveries of a gateway without keys, named gw.example.org, on the host mx1.example.org.
enum GatewayDelivery {
    static func text(of message: [UInt8], tags: Bool) async throws -> String {
        let temporary = try TemporaryFolder()
        let home = temporary.file("store").path
        let store = try await Store.open(StoreLocation(home: home), mode: .readWrite)
        let filter = IncomingFilter(
            store: store,
            provider: EmptyKeyProvider(),
            time: Date(timeIntervalSince1970: 1_793_491_200),
            host: MailHost(
                name: try #require(HostName("gw.example.org")),
                host: try #require(HostName("mx1.example.org"))
            ),
            tagsSubjects: tags
        )
        let plan = try await filter.plan(MemorySource(message), to: ["alice@example.org"])
        let sink = MemorySink()
        try #require(plan.messages.first).source.reader().copy(to: sink)
        return String(decoding: sink.bytes, as: UTF8.self)
    }
}

/// A provider without keys, certificates and anchors.
private struct EmptyKeyProvider: KeyProvider {
    func identity(for recipients: [EntityIdentifier]) async throws -> Identity? { nil }
    func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate] { [] }
    func trust(for certificates: [Certificate]) async throws -> TrustStore { TrustStore() }
}
