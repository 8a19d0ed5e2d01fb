import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import NIOCore
import SMIMEAgent
package import SMIMEGateway
package import SMIMEStore

/// The work of a worker process: it opens the store, handles one message after the other, and ends when the service closes
/// the socket.
package struct MessageWorker {
    /// The objects that a worker needs to handle messages.
    package struct Tools: Sendable {
        package let store: Store
        package let engines: [GatewayRole: GatewayEngine]
        /// Whether certificates are learned from incoming mail.
        package let learns: Bool

        package init(_ store: Store, _ engines: [GatewayRole: GatewayEngine], learns: Bool) {
            self.store = store
            self.engines = engines
            self.learns = learns
        }
    }

    private var socket: WorkerSocket
    private let spools: [(message: ReusableSpool, copies: ReusableSpool)]
    private let tools: Tools
    private var learnable = LearnableMessages()
    private var counted = (hits: 0, misses: 0, crypto: CryptoTime())
    /// The store, opened for writing to the journal; nil if it is not on a database server, or was not needed yet. The
    /// store stays open, because connecting takes longer than recording, and an existing connection waits for a server
    /// that restarts.
    private var writable: Store?

    private init(_ socket: WorkerSocket, _ descriptors: [Int32], tools: Tools) {
        self.socket = socket
        self.tools = tools
        spools = stride(from: 0, to: descriptors.count - 1, by: 2).map {
            (ReusableSpool(adopting: descriptors[$0]), ReusableSpool(adopting: descriptors[$0 + 1]))
        }
    }

    /// Handles requests until the service closes the socket.
    ///
    /// - Parameter open: opens the store.
    /// - Throws: errors of the socket, because nothing can be reported to a service that has ended; `WorkerFrameError` if a
    ///   request cannot be read or names a slot or a role that the worker does not have.
    package static func run(_ role: ServerWorker, open: () async throws(WorkerFailure) -> Tools) async throws {
        // 4 MiB are enough for the cache, which contains at most 256 private keys.
        let isLocked = Libcrypto.lockKeys(in: 4 << 20)
        let socket = WorkerSocket(role.socket)
        let tools: Tools
        do throws(WorkerFailure) {
            tools = try await open()
        } catch {
            return try socket.send(WorkerAnswer.unusable(error).frame)
        }
        var worker = MessageWorker(socket, role.spools, tools: tools)
        try worker.socket.send(WorkerAnswer.ready(locksKeys: isLocked).frame)
        while let frame = try worker.socket.next() {
            switch try WorkerRequest(frame) {
            case .handle(let job): try await worker.handle(job)
            case .settle(let settlement):
                try worker.socket.send(await worker.settle(settlement).frame)
            case .countExpiring:
                guard let count = await worker.countExpiring() else { continue }
                try worker.socket.send(WorkerAnswer.expiring(count).frame)
            case .check:
                let obstacle = await worker.tools.store.forOneMessage().obstacle()
                try worker.socket.send(WorkerAnswer.checked(obstacle.map(WorkerObstacle.init)).frame)
            }
        }
    }

    private mutating func handle(_ job: WorkerJob) async throws {
        guard spools.indices.contains(job.slot), let engine = tools.engines[job.role] else { throw WorkerFrameError() }
        tools.store.noteChangeCount(job.changeCount)
        let result: GatewayResult<ProcessedMail>
        let mail: GatewayMail
        do {
            mail = try Self.mail(job, spools[job.slot].message)
        } catch {
            let refusal = GatewayRefusal(error, in: job.role)
            return try answer(job, .refused(WorkerRefusal(refusal)), log: WorkerLog())
        }
        if let signal = job.rescuedFrom {
            result = await engine.rescue(mail, signal: signal)
        } else {
            #if DEBUG
            TestTrap.crashIfRequested(for: mail.source)
            #endif
            result = await engine.handle(mail)
        }
        let (fields, details) = result.record.logFields
        var log = WorkerLog(fields: fields, details: details, warnings: result.warnings)
        if let messageID = mail.messageID { log.fields.insert(LogField("message_id", [messageID]), at: 0) }
        count(in: &log)
        switch result.outcome {
        case .sentBefore: try answer(job, .served, log: log)
        case .refused(let refusal):
            log.warnings += refusal.hints
            try answer(job, .refused(WorkerRefusal(refusal)), log: log)
        case .finished(let processed):
            log.warnings += await engine.keepAnswers(of: processed)
            let entry = engine.recordedEntry(of: mail) { log.warnings.append($0) }
            // Usually the author is known already, and there is nothing to learn after the delivery.
            let learns = tools.learns ? await engine.hasNews(processed) : false
            if learns, let message = processed.learnable { learnable.add(job.number, message) }
            try answer(job, outcome(of: processed, for: job, entry: entry, learns: learns), log: log)
        }
    }

    /// Adds the use of the caches and of libcrypto for this message, and the store's change counter, to `log`.
    private mutating func count(in log: inout WorkerLog) {
        let (use, crypto) = (tools.store.cacheUse, CryptoTime.spent)
        (log.cacheHits, log.cacheMisses) = (use.hits - counted.hits, use.misses - counted.misses)
        log.cryptoTime = crypto - counted.crypto
        log.changeCount = tools.store.latestChangeCount
        counted = (use.hits, use.misses, crypto)
    }

    private func answer(_ job: WorkerJob, _ outcome: WorkerOutcome, log: WorkerLog) throws {
        try socket.send(WorkerAnswer.handled(number: job.number, outcome, log).frame)
    }

    private static func mail(_ job: WorkerJob, _ spool: ReusableSpool) throws -> GatewayMail {
        let source: any ByteSource =
            switch job.content {
            case .bytes(let bytes): MemorySource(Array(bytes.readableBytesView))
            case .spooled(let range): try spool.source(in: range)
            }
        let entry = try job.queueName.map { name in
            try DeliveryJournal.Entry(
                queueID: name,
                role: job.role,
                of: source,
                recordsSince: MilterJournalName.recordLifetime(of: name).map { Date.now.addingTimeInterval(-$0) }
            )
        }
        return GatewayMail(
            job.role,
            source,
            from: EnvelopeSender(job.sender),
            to: job.recipients,
            entry: entry
        )
    }

    private func outcome(
        of processed: ProcessedMail,
        for job: WorkerJob,
        entry: DeliveryJournal.Entry?,
        learns: Bool
    ) -> WorkerOutcome {
        do {
            var writer = CopyWriter(spools[job.slot].copies)
            let messages = processed.delivery.messages
            // Recipients without a copy have already got the message. Only the journal can know this, so the message must
            // have a name in it.
            let present = Set(messages.flatMap(\.recipients).map(ExactText.init))
            let missing = job.recipients.filter { !present.contains(ExactText($0)) }
            guard missing.isEmpty || job.queueName != nil else {
                throw GatewayRefusal(
                    .temporary,
                    "4.3.0",
                    explanation: "no message for \(missing.sorted().joined(separator: ", "))"
                )
            }
            let copies = try messages.map { try writer.copy($0, from: $0.sender ?? job.sender) }
            return .copies(copies, entry: entry, learns: learns)
        } catch {
            return .refused(WorkerRefusal(GatewayRefusal(error, in: job.role)))
        }
    }

    /// Does the work that remains after the delivery of a message. A failure here is not a failure of the message.
    private mutating func settle(_ settlement: WorkerSettlement) async -> WorkerAnswer {
        var log = WorkerLog()
        var isRecorded = true
        if settlement.checksJournal { isRecorded = await canRecord() }
        if !settlement.served.isEmpty, let entry = settlement.entry {
            do throws(KeystoreError) { try await record(settlement.served, of: entry) } catch {
                isRecorded = false
                log.warnings.append("\(entry.queueID): a second attempt may send the message twice: \(error)")
            }
        }
        if settlement.forgets, let entry = settlement.entry {
            do throws(KeystoreError) {
                try await write { (journal) throws(KeystoreError) in try await journal.forget(entry) }
            } catch {
                isRecorded = false
                let text = "if the same message arrives again, some recipients might not get it"
                log.warnings.append("\(entry.queueID): \(text): \(error)")
            }
        }
        if settlement.learns, let message = learnable.take(settlement.number), let engine = tools.engines[.incoming] {
            let (record, warning) = await engine.learn(from: message)
            (log.fields, log.details) = record.logFields
            if let warning { log.warnings.append(warning) }
        }
        return .settled(number: settlement.number, isRecorded: isRecorded, log)
    }

    /// Whether deliveries can be recorded. Also true if the database server is read-only: in this case `GatewayEngine` defers
    /// outgoing mail, and incoming mail is delivered without a record.
    private mutating func canRecord() async -> Bool {
        let isOnServer = tools.store.location.server != nil
        do throws(KeystoreError) {
            let store =
                try await isOnServer
                ? writableStore() : Store.open(tools.store.location, mode: .readWriteExisting)
            try await store.journal.check(at: .now)
            if !isOnServer { try await store.close() }
            return true
        } catch {
            return isOnServer && error.isReadOnly
        }
    }

    /// The time for which writing to the journal is retried while the database server is unavailable or read-only, because
    /// the next attempt to send the message needs the record.
    private static let recordingTime = Duration.seconds(10)

    private mutating func record(_ served: [String], of entry: DeliveryJournal.Entry) async throws(KeystoreError) {
        // If a retry writes the same record again, this has no further effect.
        try await write { (journal) throws(KeystoreError) in try await journal.record(served, of: entry, at: .now) }
    }

    /// Changes the journal. A failure that may be temporary is retried if the store is on a database server.
    private mutating func write(
        _ change: (DeliveryJournal) async throws(KeystoreError) -> Void
    ) async throws(KeystoreError) {
        guard tools.store.location.server != nil else {
            let store = try await Store.open(tools.store.location, mode: .readWriteExisting)
            try await change(store.journal)
            return try await store.close()
        }
        let deadline = ContinuousClock.now + Self.recordingTime
        while true {
            do throws(KeystoreError) {
                return try await change(writableStore().journal)
            } catch {
                // A read-only database server may be a standby during a failover: a retry may reach the new primary.
                guard error.isTemporary || error.isReadOnly, ContinuousClock.now < deadline else { throw error }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private mutating func writableStore() async throws(KeystoreError) -> Store {
        if let writable { return writable }
        let store = try await Store.open(tools.store.location, mode: .readWriteExisting)
        writable = store
        return store
    }

    private func countExpiring() async -> Int? {
        try? await tools.store.lapsingCertificates(from: .now, within: 30 * 86_400).count
    }
}

extension KeystoreError {
    fileprivate var isReadOnly: Bool {
        guard case .notWritable = self else { return false }
        return true
    }
}

extension WorkerRefusal {
    init(_ refusal: GatewayRefusal) {
        self.init(
            code: refusal.replyCode,
            enhancedCode: refusal.enhancedCode,
            sentence: [refusal.sentence, refusal.bounceText].compactMap(\.self).joined(separator: "\n"),
            detail: refusal.logText
        )
    }
}
