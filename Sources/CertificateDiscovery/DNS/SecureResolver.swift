import CUnbound
import Foundation

/// Looks up SMIMEA records and accepts only answers that DNSSEC authenticates.
package struct SecureResolver: Sendable {
    /// The result of looking up one name.
    package enum Answer: Equatable, Sendable {
        /// The records, and how long they may be cached.
        case records([[UInt8]], lifetime: Duration)
        /// There are no records. Whether the zone is signed makes no difference. `lifetime` says how long this answer may be
        /// cached.
        case none(lifetime: Duration)
        /// There are records, but their zone is not signed.
        case unsigned
        /// The lookup failed.
        case outage(DiscoveryOutage)
    }

    /// The DNS type of SMIMEA records.
    private static let type: CInt = 53
    private static let internet: CInt = 1
    private static let noError: CInt = 0
    private static let noSuchName: CInt = 3
    /// The maximum number of records for a name; further records are ignored.
    private static let maximumRecords = 100
    /// Where Debian stores the keys of the root zone: in the package `dns-root-data`, and in the state folder of `unbound`.
    private static let rootKeys = ["/usr/share/dns/root.key", "/var/lib/unbound/root.key"]

    /// The address of the resolver, optionally with an at sign and a port; nil for the resolvers in /etc/resolv.conf.
    package let resolver: String?
    /// A file with the trust anchors for signatures; nil for the keys of the root zone.
    package let anchors: String?

    package init(resolver: String?, anchors: String?) {
        self.resolver = resolver
        self.anchors = anchors
    }

    /// Whether `text` is an IP address, optionally with an at sign and a port.
    package static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count == 1 || UInt16(parts[1]).map({ $0 > 0 }) ?? false else {
            return false
        }
        var bytes = in6_addr()
        return inet_pton(AF_INET, String(host), &bytes) == 1 || inet_pton(AF_INET6, String(host), &bytes) == 1
    }

    /// The answers about `names`, in the same order. A name without an answer at `deadline` gets an outage.
    ///
    /// libunbound: `ub_resolve_async`
    ///
    /// - Throws: `DiscoveryOutage` if no query can be sent.
    package func answers(
        about names: [String],
        until deadline: ContinuousClock.Instant
    ) throws(DiscoveryOutage) -> [Answer] {
        let library = try UnboundLibrary.shared
        guard let context = library.create() else { throw DiscoveryOutage("libunbound cannot be started") }
        defer { library.delete(context) }
        try configure(context, library)
        let questions = names.map { _ in Question(library) }
        for (name, question) in zip(names, questions) {
            let argument = Unmanaged.passUnretained(question).toOpaque()
            let code = library.resolve(context, name, Self.type, Self.internet, argument, Question.take, nil)
            guard code == 0 else { throw Self.failure(code, library) }
        }
        // Queries in progress are cancelled before `questions` is released.
        try withExtendedLifetime(questions) { () throws(DiscoveryOutage) in
            while questions.contains(where: { $0.answer == nil }), ContinuousClock.now < deadline {
                var entry = pollfd(fd: library.descriptor(context), events: Int16(POLLIN), revents: 0)
                guard poll(&entry, 1, 50) > 0 else { continue }
                let code = library.process(context)
                guard code == 0 else { throw Self.failure(code, library) }
            }
        }
        return questions.map { $0.answer ?? .outage(.timeLimit) }
    }

    /// The path of the trust anchor file.
    ///
    /// - Throws: `DiscoveryOutage` if there is no such file.
    package func anchorFile() throws(DiscoveryOutage) -> String {
        guard
            let file = ([anchors].compactMap(\.self) + (anchors == nil ? Self.rootKeys : [])).first(where: {
                access($0, R_OK) == 0
            })
        else {
            throw DiscoveryOutage("the keys for DNSSEC cannot be read (Debian: apt install dns-root-data)")
        }
        return file
    }

    private func configure(_ context: OpaquePointer, _ library: UnboundLibrary) throws(DiscoveryOutage) {
        func demand(_ code: CInt) throws(DiscoveryOutage) {
            guard code == 0 else { throw Self.failure(code, library) }
        }
        // Makes libunbound use a thread of this process instead of a separate process.
        try demand(library.useThread(context, 1))
        // Allows queries to loopback addresses, because the host's own resolver often listens there.
        try demand(library.setOption(context, "do-not-query-localhost:", "no"))
        if let resolver {
            try demand(library.addResolver(context, resolver))
        } else {
            try demand(library.readResolvers(context, nil))
        }
        try demand(library.addAnchors(context, try anchorFile()))
    }

    private static func failure(_ code: CInt, _ library: UnboundLibrary) -> DiscoveryOutage {
        DiscoveryOutage("libunbound says: \(library.errorText(code).map { String(cString: $0) } ?? "error \(code)")")
    }

    /// A query in progress.
    private final class Question {
        var answer: Answer?
        private let library: UnboundLibrary

        init(_ library: UnboundLibrary) { self.library = library }

        /// The callback for libunbound, which calls it on the thread that calls `process`.
        static let take: ub_callback_function = { argument, error, result in
            guard let argument else { return }
            let question = Unmanaged<Question>.fromOpaque(argument).takeUnretainedValue()
            guard error == 0, let result else {
                question.answer = .outage(DiscoveryOutage("DNS gives no answer"))
                return
            }
            question.answer = SecureResolver.answer(result.pointee)
            question.library.freeResult(result)
        }
    }

    private static func answer(_ result: ub_result) -> Answer {
        guard result.bogus == 0 else {
            return .outage(DiscoveryOutage("the answer of DNS is not signed as it must be"))
        }
        guard result.rcode == noError || result.rcode == noSuchName else {
            return .outage(DiscoveryOutage("DNS gives no answer (code \(result.rcode))"))
        }
        let lifetime = Duration.seconds(max(0, result.ttl))
        guard result.havedata != 0 else { return .none(lifetime: lifetime) }
        guard result.secure != 0 else { return .unsigned }
        return .records(result.records(limit: maximumRecords), lifetime: lifetime)
    }
}
