package import ByteStreams
package import Foundation
import PKIX
package import SMIMEStore

/// Stores the certificates of a directory's LDIF file, however many they are: a thousand at a time, each in a transaction of its own.
/// Importing again changes nothing, so an interrupted import can be repeated.
package struct DirectoryImport {
    /// The result for a file.
    package struct Outcome: Equatable, Sendable {
        /// How many entries there were.
        package fileprivate(set) var entries = 0
        /// How many certificates of addresses were stored, and how many were known already.
        package fileprivate(set) var new = 0
        package fileprivate(set) var known = 0
        /// How many certificates of authorities there were that were not known.
        package fileprivate(set) var intermediates = 0
        /// How many values were not certificates, or named no address.
        package fileprivate(set) var leftOut = 0

        package init() {}
    }

    /// How many certificates are stored at once.
    private static let batchSize = 1000

    private let store: Store
    private let time: Date
    private var batch = ImportBatch()
    private var outcome = Outcome()

    package init(into store: Store, at time: Date) {
        self.store = store
        self.time = time
    }

    /// Reads and stores everything.
    ///
    /// - Parameter progress: called with what was done so far, after each part.
    /// - Throws: what reading and `Store.add` throw; what was stored until then stays.
    package mutating func run(_ reader: any ByteReader, progress: (Outcome) -> Void = { _ in }) async throws -> Outcome
    {
        var parser = LDIFReader()
        let window = Window()
        while case let count = try window.fill(from: reader), count > 0 {
            try Task.checkCancellation()
            parser.read(window.prefix(count)).forEach { add($0) }
            guard batch.recipients.count + batch.intermediates.count >= Self.batchSize else { continue }
            try await storeBatch()
            outcome.entries = parser.entries
            progress(outcome)
        }
        parser.finish().forEach { add($0) }
        try await storeBatch()
        outcome.entries = parser.entries
        return outcome
    }

    private mutating func add(_ item: LDIFReader.Item) {
        guard case .certificate(let bytes) = item, let items = try? KeyMaterial.read(bytes) else {
            outcome.leftOut += 1
            return
        }
        for case .certificate(let certificate) in items {
            let addresses = certificate.recipientScopes
            if certificate.isCertificateAuthority {
                batch.intermediates.append(certificate)
            } else if addresses.isEmpty {
                outcome.leftOut += 1
            } else {
                batch.recipients.append(.init(certificate: certificate, addresses: addresses))
            }
        }
    }

    private mutating func storeBatch() async throws {
        guard !batch.isEmpty else { return }
        let report = try await store.add(batch, at: time)
        batch = ImportBatch()
        outcome.new += report.recipients.count(where: \.isNew)
        outcome.known += report.recipients.count(where: { !$0.isNew })
        outcome.intermediates += report.intermediates.count(where: \.isNew)
    }
}
