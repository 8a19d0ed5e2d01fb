import ArgumentParser
import CertificateDiscovery
import Foundation
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension ArgumentHelp {
    static let online: ArgumentHelp = """
        Ask the services that certificates name whether they were revoked, where nothing at hand tells; this tells \
        them that you have the mail. (default: by the setting revocation.online)
        """
}

/// Asks the network about revocation, if a flag or the store's setting wants it; reads the settings when there is
/// something to ask.
actor OnlineRevocation: RevocationSource {
    private let opening: StoreOpening
    private let isDemanded: Bool
    private var isReady = false
    private var fetcher: RevocationFetcher?
    private var failure: Failure?
    /// The services of which the store remembers that they did not answer.
    private var knownSilence: Set<String> = []

    init(_ opening: StoreOpening, isDemanded: Bool) {
        self.opening = opening
        self.isDemanded = isDemanded
    }

    func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence {
        await readyFetcher()?.evidence(on: chain, at: places, date: date) ?? RevocationEvidence()
    }

    nonisolated func forOneVerdict() -> any RevocationSource { VerdictRevocation { await self.readyFetcher() } }

    func isAsking() async -> Bool { await readyFetcher() != nil }

    /// What asks the services; nil if none is to be asked.
    private func readyFetcher() async -> RevocationFetcher? {
        if !isReady {
            do {
                let made = try await makeFetcher()
                // Another message may have been faster; questions are remembered in one place.
                if !isReady { fetcher = made }
            } catch {
                failure = Failure(error)
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
            // A person who says so asks at once.
            silentServices: isDemanded ? [:] : known
        )
    }

    /// Whether a service gave no answer.
    var hasOutages: Bool {
        get async { await !(fetcher?.outages.isEmpty ?? true) }
    }

    /// The status for `report`: 69 if it fails for nothing but the word of a service that did not answer.
    func status(for report: VerificationReport) async -> ExitStatus {
        let errors = (report.problems + report.signers.flatMap(\.problems)).filter { $0.level == .error }
        guard !errors.isEmpty, errors.allSatisfy({ $0.kind == .revocationUnknown }), await hasOutages else {
            return report.exitStatus
        }
        return .unavailable
    }

    /// How many services that did not answer are named; the others are counted.
    private static let maximumWarnings = 3

    /// The first services that did not answer, and why; one sentence each, and how many others there are.
    var warnings: [String] {
        get async {
            let outages = await fetcher?.outages ?? []
            let others = outages.count - Self.maximumWarnings
            return outages.prefix(Self.maximumWarnings).map { "\($0.url): \($0.error)" }
                + (others > 0
                    ? ["\(others) more \(others == 1 ? "service" : "services") did not answer, or could not be asked"]
                    : [])
        }
    }

    /// Says which services did not answer, and keeps what the others said.
    ///
    /// - Throws: `Failure` with status 78 if the settings could not be read.
    func finish() async throws {
        if let failure { throw failure }
        for text in await warnings { Console.note(text) }
        if let text = await keep() { Console.warning(text) }
    }

    /// Keeps the lists that were fetched, what responders said, and which services were silent, where the store can be written.
    ///
    /// - Returns: why that failed; nil if it did not.
    func keep() async -> String? {
        guard let fetcher else { return nil }
        var batch = ImportBatch()
        batch.fetchedLists = await fetcher.certificateLists
        batch.responses = await fetcher.responses.map {
            .init(certificate: $0.certificate, response: $0.response, lifetime: $0.lifetime)
        }
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
            return "what the network said of revocation not kept: \(Failure(error).message)"
        }
        return nil
    }
}

extension Warnings {
    /// Takes in what `online` has to tell, and has it keep what it fetched.
    func add(_ online: OnlineRevocation) async {
        for text in await online.warnings { add(text) }
        if let text = await online.keep() { add(text) }
    }
}
