package import ByteStreams
package import Foundation
import PKIX
package import SMIMEStore

/// Stores the certificates in an LDIF file of a directory, however many there are, in transactions of about a thousand
/// each. Importing the same file again changes nothing, so an interrupted import can be repeated.
package struct DirectoryImport {
    /// The result of the import of one file.
    package struct Outcome: Equatable, Sendable {
        /// How many directory entries were read.
        package fileprivate(set) var entries = 0
        /// How many certificates of addresses were stored (`new`), and how many were already in the store (`known`).
        package fileprivate(set) var new = 0
        package fileprivate(set) var known = 0
        /// How many certificates of authorities were stored that were not in the store before.
        package fileprivate(set) var intermediates = 0
        /// How many values were not certificates, or were certificates that name no address.
        package fileprivate(set) var leftOut = 0

        package init() {}
    }

    /// How many certificates are collected before they are stored in one transaction.
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
    /// - Parameter progress: called after each transaction with the results so far.
    /// - Throws: `CancellationError`, the errors of reading and of `Store.add`; certificates that were stored before an
    ///   error remain.
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
