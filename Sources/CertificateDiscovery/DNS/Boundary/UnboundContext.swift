import CUnbound
import Foundation

/// A context of libunbound with its queries. Only one thread may use it.
final class UnboundContext {
    /// A query in progress.
    private final class Query {
        var answer: SecureResolver.Answer?
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
    private var queries: [Query] = []

    /// A context without queries.
    ///
    /// - Parameters:
    ///   - resolver: the address of the resolver; nil for the resolvers in /etc/resolv.conf.
    ///   - anchorFile: returns the path of the trust anchor file. It is called after everything else is set up.
    /// - Throws: `DiscoveryOutage` if the library is missing or rejects a parameter; errors of `anchorFile`.
    init(resolver: String?, anchorFile: () throws(DiscoveryOutage) -> String) throws(DiscoveryOutage) {
        library = try UnboundLibrary.shared
        guard let context = library.create() else { throw DiscoveryOutage("libunbound cannot be started") }
        self.context = context
        // Makes libunbound use a thread of this process instead of a separate process.
        try check(library.useThread(context, 1))
        // Allows queries to loopback addresses, because the host's own resolver often listens there.
        try check(library.setOption(context, "do-not-query-localhost:", "no"))
        if let resolver {
            try check(library.addResolver(context, resolver))
        } else {
            try check(library.readResolvers(context, nil))
        }
        try check(library.addAnchors(context, try anchorFile()))
    }

    // Deleting the context cancels the queries in progress, before `queries` is released.
    deinit { library.delete(context) }

    /// Begins a query.
    ///
    /// libunbound: `ub_resolve_async`
    ///
    /// - Throws: `DiscoveryOutage` if the query cannot be sent.
    func ask(about name: String, type: CInt, class: CInt) throws(DiscoveryOutage) {
        let query = Query(library)
        queries.append(query)
        let argument = Unmanaged.passUnretained(query).toOpaque()
        try check(library.resolve(context, name, type, `class`, argument, Query.take, nil))
    }

    /// The answers to all queries, in their order. A query without an answer at `deadline` gets an outage.
    func answers(until deadline: ContinuousClock.Instant) throws(DiscoveryOutage) -> [SecureResolver.Answer] {
        while queries.contains(where: { $0.answer == nil }), ContinuousClock.now < deadline {
            var entry = pollfd(fd: library.descriptor(context), events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 50) > 0 else { continue }
            try check(library.process(context))
        }
        return queries.map { $0.answer ?? .outage(.timeLimit) }
    }

    private func check(_ code: CInt) throws(DiscoveryOutage) {
        guard code != 0 else { return }
        throw DiscoveryOutage(
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
