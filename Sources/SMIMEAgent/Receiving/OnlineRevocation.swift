import CertificateDiscovery
package import Foundation
package import PKIX
package import SMIME
package import SMIMEStore

/// Asks services about revocation, if a flag or the store's setting allows it. Reads the settings when the first question is
/// asked.
package actor OnlineRevocation: RevocationSource {
    private let opening: StoreOpening
    private let isDemanded: Bool
    private var isReady = false
    private var fetcher: RevocationFetcher?
    /// Why the store could not be opened or its settings could not be read; nil if they were read or not needed.
    package private(set) var failure: (any Error)?
    /// The services that gave no answer lately, according to the store.
    private var knownSilence: Set<String> = []

    package init(_ opening: StoreOpening, isDemanded: Bool) {
        self.opening = opening
        self.isDemanded = isDemanded
    }

    package func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence {
        await readyFetcher()?.evidence(on: chain, at: places, date: date) ?? RevocationEvidence()
    }

    package nonisolated func forOneVerdict() -> any RevocationSource { VerdictRevocation { await self.readyFetcher() } }

    package func isAsking() async -> Bool { await readyFetcher() != nil }

    /// The fetcher that asks the services; nil if no service may be asked.
    private func readyFetcher() async -> RevocationFetcher? {
        if !isReady {
            do {
                let made = try await makeFetcher()
                // The task of another message may have created the fetcher first; all tasks share that fetcher.
                if !isReady { fetcher = made }
            } catch {
                failure = error
            }
            isReady = true
        }
        return fetcher
    }

    private func makeFetcher() async throws -> RevocationFetcher? {
        let store = try await opening.store()
        let services = try await store.revocationServices()
        guard isDemanded || services.areAsked else { return nil }
        let known = store.exists ? try await store.anchors.silentServices(at: .now) : [:]
        knownSilence = Set(known.keys)
        return RevocationFetcher(
            HTTPClient(timeLimit: services.timeLimit, allowsPrivateAddresses: services.allowsPrivateAddresses),
            // With --online, services that recently gave no answer are asked again.
            silentServices: isDemanded ? [:] : known
        )
    }

    /// Whether any service gave no answer.
    package var hasOutages: Bool {
        get async { await !(fetcher?.outages.isEmpty ?? true) }
    }

    /// Whether `report` fails only because a service did not answer.
    package func isUndecided(_ report: VerificationReport) async -> Bool {
        guard report.failsForUnknownRevocationOnly else { return false }
        return await hasOutages
    }

    /// How many of the services without an answer are named in warnings; one warning gives the number of the others.
    private static let maximumWarnings = 3

    /// A sentence for each of the first services without an answer, with the reason, and a sentence with the number of the
    /// others.
    package var warnings: [String] {
        get async {
            let outages = await fetcher?.outages ?? []
            let others = outages.count - Self.maximumWarnings
            return outages.prefix(Self.maximumWarnings).map { "\($0.url): \($0.error)" }
                + (others > 0
                    ? ["\(others) more \(others == 1 ? "service" : "services") did not answer, or could not be asked"]
                    : [])
        }
    }

    /// Stores the fetched lists, the responders' answers and the names of the services without an answer, if the store can be
    /// written.
    ///
    /// - Returns: why that failed; nil if it succeeded, if there was nothing to store, or if the store is missing or
    ///   cannot be written.
    package func keep() async -> KeystoreError? {
        guard let fetcher else { return nil }
        var batch = ImportBatch()
        batch.fetchedLists = await fetcher.certificateLists
        batch.responses = await fetcher.responses
        batch.silentServices = await fetcher.silentServices.sorted()
        batch.answeringServices = await fetcher.answeringServices.intersection(knownSilence).sorted()
        guard !batch.isEmpty else { return nil }
        do throws(KeystoreError) {
            let store = try await opening.store()
            guard store.exists else { return nil }
            let writable = try await Store.open(store.location, mode: .readWriteExisting)
            _ = try await writable.add(batch, at: .now)
            try await writable.close()
        } catch .notWritable {
            return nil
        } catch {
            return error
        }
        return nil
    }

    /// Stores the same data as `keep()`.
    ///
    /// - Returns: a sentence about why that failed; nil if it succeeded.
    package func keepOrExplain() async -> String? {
        await keep().map { "the answers about revocation were not kept: \($0)" }
    }
}
