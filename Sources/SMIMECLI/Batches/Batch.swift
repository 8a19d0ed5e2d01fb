import ByteStreams
import Foundation
import PKIX
import SMIMEStore
import Synchronization

/// Runs the same work for each input, several inputs at once. If the work fails for one input, it continues for the others.
struct Batch {
    /// How many inputs are processed at once.
    let jobs: Int
    /// The inputs. If there are several, messages name the input.
    private let paths: [String]
    /// The problems of the store that were already reported; shared by the work for all inputs.
    private let reportedStoreProblems = ReportedSentences()

    init(_ paths: [String], _ output: FileOptions? = nil) throws {
        self.paths = paths
        // The number of processors is read only if needed, because reading it opens several files.
        jobs = paths.count == 1 ? 1 : output?.jobs ?? ProcessInfo.processInfo.activeProcessorCount
        if let folder = output?.outputDir {
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                let cause = (error as? CocoaError)?.underlying as? POSIXError
                let reason = cause.map { ": \(String(cString: strerror($0.code.rawValue)))" } ?? ""
                throw Failure(.cannotCreate, "\(folder): cannot create the directory\(reason)")
            }
        }
    }

    /// The result for one input.
    struct Outcome<Value: Sendable>: Sendable {
        let path: String
        let value: Value?
        let status: ExitStatus
        /// Why there is no value; nil if there is one.
        var failure: FileFailure?
    }

    /// Runs `work` for every input and returns the outcomes in the order of the inputs. Errors are reported when they occur.
    /// The caller ends the command with the worst status.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (String) async throws -> (Value, ExitStatus)
    ) async -> [Outcome<Value>] {
        let progress = ProgressBar(total: paths.count)
        // This also removes the progress bar of a single large input.
        defer { progress.clear() }
        // Without parallel jobs, all work runs on the command's own thread.
        guard jobs > 1 else {
            var outcomes: [Outcome<Value>] = []
            for path in paths {
                outcomes.append(await outcome(path, work))
                progress.advance(to: outcomes.count)
            }
            return outcomes
        }
        let outcomes = await withTaskGroup(of: (Int, Outcome<Value>).self) { group in
            var results: [Int: Outcome<Value>] = [:]
            for (index, path) in paths.enumerated() {
                if index >= jobs, let (done, outcome) = await group.next() {
                    results[done] = outcome
                    progress.advance(to: results.count)
                }
                group.addTask(executorPreference: globalConcurrentExecutor) { (index, await outcome(path, work)) }
            }
            for await (done, outcome) in group {
                results[done] = outcome
                progress.advance(to: results.count)
            }
            return results
        }
        return paths.indices.compactMap { outcomes[$0] }
    }

    private func outcome<Value: Sendable>(
        _ path: String,
        _ work: @Sendable (String) async throws -> (Value, ExitStatus)
    ) async -> Outcome<Value> {
        do {
            let (value, status) = try await work(path)
            return Outcome(path: path, value: value, status: status)
        } catch {
            let name = InputFile.name(path)
            let failure = await report(error, of: name)
            // The command may have wrapped the library's error in a `Failure`.
            let cause = (error as? Failure)?.cause ?? error
            return Outcome(path: path, value: nil, status: failure.status, failure: FileFailure(cause, failure))
        }
    }

    /// The store, for work after all inputs. If the store cannot be opened, and this was already reported for an input, the
    /// command ends without a further message.
    func store(_ opening: StoreOpening) async throws -> Store {
        do throws(KeystoreError) { return try await opening.store() } catch { throw await report(error, of: nil) }
    }

    /// Reports `error` for the input `name`; if the store caused the error, reports it only once for all inputs.
    private func report(_ error: any Error, of name: String?) async -> Failure {
        var failure = Failure(error, in: name)
        guard !failure.isReported else { return failure }
        failure = await failure.suggestingAddresses()
        failure.isReported = true
        var subject = name.map { "\($0): " } ?? ""
        if let problem = (error as? KeystoreError)?.problemOfStore(failure.message) {
            guard reportedStoreProblems.insert(problem) else { return failure }
            subject = ""
        }
        let isNamed = paths.count == 1 || failure.message.hasPrefix(subject)
        Console.error(isNamed ? failure.message : subject + failure.message)
        failure.hints.forEach(Console.hint)
        return failure
    }
}

/// Sentences that were reported already.
private final class ReportedSentences: Sendable {
    private let sentences = Mutex<Set<String>>([])

    /// Records `sentence`, and returns whether it was not recorded before.
    func insert(_ sentence: String) -> Bool { sentences.withLock { $0.insert(sentence).inserted } }
}

extension KeystoreError {
    /// Identifies a problem of the whole store, which is reported as `message`; nil if the error is about one account
    /// or certificate.
    fileprivate func problemOfStore(_ message: String) -> String? {
        switch self {
        case .busy, .cannotCreate, .cannotOpen, .closed, .corrupt, .insideStore, .keyMismatch, .keyMissing, .missing,
            .newer, .noStore, .notMigrated, .notPossible, .notWritable, .occupied, .older, .openingTimedOut,
            .permissions,
            .unreachable, .unusableAddress, .unusableHostSettings, .unusableRole, .writeFailed:
            message
        // When all attempts to type the passphrase are used up, the error is that the store is locked.
        case .locked, .wrongPassphrase: "locked"
        case .addressTaken, .cancelled, .foreignCopy, .malformedBackup, .newerBackup, .noAccount, .noAddress,
            .noUsableIdentity, .revokedIdentity, .unexpected, .unknownAccount, .unknownAlias, .unknownCertificate,
            .unknownRecipient, .unmatchedKey, .unsupportedKey:
            nil
        }
    }
}

extension [ExitStatus] {
    /// Ends the command with the worst of these statuses, unless all are success.
    func throwWorst() throws {
        if let worst = self.max(), worst != .success { throw worst }
    }
}

extension [FailedFile] {
    /// Creates the reports on the inputs that failed.
    init<Value>(_ outcomes: [Batch.Outcome<Value>]) {
        self = outcomes.filter { $0.value == nil }.map { Element(file: InputFile.name($0.path), $0.failure) }
    }
}
