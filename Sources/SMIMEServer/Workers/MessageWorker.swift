import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import NIOCore
import SMIMEAgent
package import SMIMEGateway
package import SMIMEStore

/// What a worker process does from its start to its end: it opens the store, handles one message after the other, and ends when the
/// service closes the socket.
package struct MessageWorker {
    /// The means of a worker.
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
    private let spools: [(message: ReusableSpool, forms: ReusableSpool)]
    private let tools: Tools
    private var finished = FinishedMails()
    private var counted = (hits: 0, misses: 0, crypto: CryptoTime())
    /// The store on a server for the journal's records. A connection costs more than a record, and one that was there before waits for
    /// a server that is starting again.
    private var writable: Store?
    /// What stood in the way at the last check.
    private var lastObstacle: Store.Obstacle?

    private init(_ socket: WorkerSocket, _ descriptors: [Int32], tools: Tools) {
        self.socket = socket
        self.tools = tools
        spools = stride(from: 0, to: descriptors.count - 1, by: 2).map {
            (ReusableSpool(adopting: descriptors[$0]), ReusableSpool(adopting: descriptors[$0 + 1]))
        }
    }

    /// Works until the service needs this worker no more.
    ///
    /// - Parameter open: opens the store.
    /// - Throws: what the socket throws: the service is gone then, and nothing can be reported to it.
    package static func run(_ role: ServerWorker, open: () async throws(WorkerTrouble) -> Tools) async throws {
        // The cache keeps 256 private keys at the most.
        Libcrypto.lockKeys(in: 4 << 20)
        let socket = WorkerSocket(role.socket)
        let tools: Tools
        do throws(WorkerTrouble) {
            tools = try await open()
        } catch {
            return try socket.send(WorkerAnswer.unusable(reason: error.reason, isLasting: error.isLasting).frame)
        }
        var worker = MessageWorker(socket, role.spools, tools: tools)
        try worker.socket.send(WorkerAnswer.ready.frame)
        while let frame = try worker.socket.next() {
            switch try WorkerRequest(frame) {
            case .handle(let job): try await worker.handle(job)
            case .settle(let number, let served, let learns, let forgets):
                let log = await worker.settle(number, served: served, learns: learns, forgets: forgets)
                try worker.socket.send(WorkerAnswer.settled(number: number, log).frame)
            case .countExpiring:
                guard let count = await worker.countExpiring() else { continue }
                try worker.socket.send(WorkerAnswer.expiring(count).frame)
            case .check:
                try worker.socket.send(WorkerAnswer.checked(await worker.obstacle().map(WorkerObstacle.init)).frame)
            }
        }
    }

    private mutating func handle(_ job: WorkerJob) async throws {
        guard spools.indices.contains(job.slot), let engine = tools.engines[job.role] else { throw WorkerFrameError() }
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
            TestTrap.spring(for: mail.source)
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
            // As a rule the author is known, and nothing is left to do after the delivery.
            let learns = tools.learns ? await engine.hasNews(processed) : false
            finished.add(job.number, entry: entry, learnable: learns ? processed.learnable : nil)
            try answer(job, outcome(of: processed, for: job, learns: learns), log: log)
        }
    }

    /// Says what the message took of the caches and of libcrypto.
    private mutating func count(in log: inout WorkerLog) {
        let (use, crypto) = (tools.store.cacheUse, CryptoTime.spent)
        (log.cacheHits, log.cacheMisses) = (use.hits - counted.hits, use.misses - counted.misses)
        log.cryptoTime = crypto - counted.crypto
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
                recordsSince: SMTPEnvelope.milterMemory(of: name).map { Date.now.addingTimeInterval(-$0) }
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

    private func outcome(of processed: ProcessedMail, for job: WorkerJob, learns: Bool) -> WorkerOutcome {
        do {
            var writer = FormWriter(spools[job.slot].forms)
            let messages = processed.delivery.messages
            // Recipients in no form have the message already, which only the journal can know.
            let missing = Set(job.recipients).subtracting(messages.flatMap(\.recipients))
            guard missing.isEmpty || job.queueName != nil else {
                throw GatewayRefusal(
                    .temporary,
                    "4.3.0",
                    explanation: "no message for \(missing.sorted().joined(separator: ", "))"
                )
            }
            let forms = try messages.map { try writer.form($0, from: $0.sender ?? job.sender) }
            return .forms(forms, learns: learns)
        } catch {
            return .refused(WorkerRefusal(GatewayRefusal(error, in: job.role)))
        }
    }

    private mutating func obstacle() async -> Store.Obstacle? {
        let found = await tools.store.atOneMoment().obstacle()
        // A refused passphrase is not tried again, so the store then looks as if none was given: the earlier obstacle says more.
        if case .key(.locked(_, nil)) = found, let earlier = lastObstacle { return earlier }
        lastObstacle = found
        return found
    }

    /// Does what is left to do after a message. A failure here is not one of the message.
    private mutating func settle(_ number: UInt64, served: [String], learns: Bool, forgets: Bool) async -> WorkerLog {
        var log = WorkerLog()
        guard let mail = finished[number] else { return log }
        if !served.isEmpty, let entry = mail.entry {
            do throws(KeystoreError) { try await record(served, of: entry) } catch {
                log.warnings.append("a second attempt may send the message twice: \(error)")
            }
        }
        if forgets, let entry = mail.entry {
            do throws(KeystoreError) {
                try await write { (journal) throws(KeystoreError) in try await journal.forget(entry) }
            } catch {
                log.warnings.append("the same message may not be sent again to all: \(error)")
            }
        }
        if learns, tools.learns, let message = mail.learnable, let engine = tools.engines[.incoming] {
            let (record, warning) = await engine.learn(from: message)
            (log.fields, log.details) = record.logFields
            if let warning { log.warnings.append(warning) }
        }
        return log
    }

    /// How long recording is retried while the store's server is away: the next attempt at the message needs the record.
    private static let recordingTime = Duration.seconds(10)

    private mutating func record(_ served: [String], of entry: DeliveryJournal.Entry) async throws(KeystoreError) {
        // Recording twice does no harm.
        try await write { (journal) throws(KeystoreError) in try await journal.record(served, of: entry, at: .now) }
    }

    /// Changes the journal, again after a failure that may pass.
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
                // Where the server only reads now, another one may be promoted.
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
            isPermanent: refusal.isPermanent,
            code: refusal.replyCode,
            enhancedCode: refusal.enhancedCode,
            sentence: [refusal.sentence, refusal.bounceText].compactMap(\.self).joined(separator: "\n"),
            detail: refusal.logText
        )
    }
}
