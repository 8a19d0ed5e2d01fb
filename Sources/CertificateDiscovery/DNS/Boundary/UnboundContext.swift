import CUnbound
import Foundation

/// A context of libunbound with its queries. Only one thread may use it.
final class UnboundContext {
    /// A query in progress.
    private final class Query {
        var answer: SecureResolver.Answer?
        let start = ContinuousClock.now
        private let library: UnboundLibrary

        init(_ library: UnboundLibrary) { self.library = library }

        /// The callback for libunbound, which calls it on the thread that calls `process`.
        static let take: ub_callback_function = { argument, error, result in
            guard let argument else { return }
            let query = Unmanaged<Query>.fromOpaque(argument).takeUnretainedValue()
            guard error == 0, let result else {
                query.answer = .outage(DiscoveryOutage("DNS gives no answer"))
                return
            }
            query.answer = SecureResolver.Answer(result.pointee)
            query.library.freeResult(result)
        }
    }

    private let library: UnboundLibrary
    private let context: OpaquePointer
    /// The queries that have begun, by the position of their names.
    private var queries: [Int: Query] = [:]

    /// A context without queries.
    ///
    /// - Parameters:
    ///   - resolver: the address of the resolver; nil for the resolvers in /etc/resolv.conf.
    ///   - anchorFile: returns the path of the trust anchor file. It is called after everything else is set up.
    /// - Throws: `DiscoveryOutage` if the library is missing or rejects a parameter; errors of `anchorFile`.
    init(resolver: String?, anchorFile: () throws(DiscoveryOutage) -> String) throws(DiscoveryOutage) {
        library = try UnboundLibrary.shared
        guard let context = library.create() else { throw .fault("libunbound cannot be started") }
        self.context = context
        // Makes libunbound use a thread of this process instead of a separate process.
        try check(library.useThread(context, 1))
        // Allows queries to loopback addresses, because the host's own resolver often listens there.
        try check(library.setOption(context, "do-not-query-localhost:", "no"))
        // By default, libunbound as a library has only 16 ports and 64 queries, so that the names of one silent domain
        // keep the others waiting. If it rejects these values, it uses the defaults.
        for (option, value) in [("num-queries-per-thread:", "4096"), ("outgoing-range:", "900")] {
            _ = library.setOption(context, option, value)
        }
        if let resolver {
            try check(library.addResolver(context, resolver))
        } else {
            try check(library.readResolvers(context, nil))
        }
        try check(library.addAnchors(context, try anchorFile()))
    }

    // Deleting the context cancels the queries in progress, before `queries` is released.
    deinit { library.delete(context) }

    /// The answers about `names`, in their order. A name without an answer at `deadline` gets an outage.
    ///
    /// A context answers only one call, because it keeps its queries.
    ///
    /// - Throws: `DiscoveryOutage` if a query cannot be sent.
    func answers(
        about names: [String],
        type: CInt,
        class: CInt,
        until deadline: ContinuousClock.Instant
    ) throws(DiscoveryOutage) -> [SecureResolver.Answer] {
        let start = ContinuousClock.now
        var queue = QueryQueue(names)
        var open: [Int] = []
        while ContinuousClock.now < deadline {
            while let index = queue.next() {
                try ask(about: names[index], at: index, type: type, class: `class`)
                open.append(index)
            }
            guard !open.isEmpty else { break }
            var entry = pollfd(fd: library.descriptor(context), events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 50) > 0 else { continue }
            try check(library.process(context))
            for index in open where queries[index]?.answer != nil { queue.end(index) }
            open.removeAll { queries[$0]?.answer != nil }
        }
        return answers(names.count, queue, half: start + (deadline - start) / 2)
    }

    /// Begins a query.
    ///
    /// libunbound: `ub_resolve_async`
    ///
    /// - Throws: `DiscoveryOutage` if the query cannot be sent.
    private func ask(about name: String, at index: Int, type: CInt, class: CInt) throws(DiscoveryOutage) {
        let query = Query(library)
        queries[index] = query
        let argument = Unmanaged.passUnretained(query).toOpaque()
        try check(library.resolve(context, name, type, `class`, argument, Query.take, nil))
    }

    /// The answers to `count` names, with an outage for each name without an answer.
    private func answers(
        _ count: Int,
        _ queue: QueryQueue,
        half: ContinuousClock.Instant
    ) -> [SecureResolver.Answer] {
        let outages = queue.outages(
            of: (0..<count).filter { queries[$0]?.answer == nil },
            hadTurn: Set(queries.filter { $0.value.start <= half }.keys),
            answered: Set(queries.filter { $0.value.answer?.isOutage == false }.keys)
        )
        return (0..<count).map { queries[$0]?.answer ?? .outage(outages[$0] ?? .timeLimit) }
    }

    private func check(_ code: CInt) throws(DiscoveryOutage) {
        guard code != 0 else { return }
        throw .fault(
            "libunbound says: \(library.errorText(code).map { String(cString: $0) } ?? "error \(code)")"
        )
    }
}

extension ub_result {
    /// Copies of the records of an answer, at most the first `limit`.
    func records(limit: Int) -> [[UInt8]] {
        var records: [[UInt8]] = []
        while records.count < limit, let data = data?[records.count] {
            let count = Int(len?[records.count] ?? 0)
            records.append([UInt8](UnsafeRawBufferPointer(start: data, count: max(0, count))))
        }
        return records
    }
}
