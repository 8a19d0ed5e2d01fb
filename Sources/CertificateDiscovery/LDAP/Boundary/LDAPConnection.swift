import CLDAP
import Foundation

/// A connection to an LDAP directory, for use by one thread.
///
/// Sets every relevant option that libldap would otherwise read from configuration files and the environment.
package final class LDAPConnection {
    /// The size limit of a search in entries, which the server applies. A server could ignore it, so the number of messages
    /// (entries and referrals) that are read is limited as well.
    private static let maximumEntries = 20
    private static let maximumMessages = 40
    /// The maximum size of one message of the server, in bytes. libldap ends the connection at a larger one.
    private static let maximumAnswer = 1 << 22

    /// Whether the connection ended while an answer was read, or the rest of an answer still arrives on it, so that no more
    /// searches are possible.
    private(set) var hasEnded = false
    /// An upper estimate of how many bytes have arrived since the current search began: bytes that libldap has not read yet
    /// are counted repeatedly.
    var receivedCount = 0

    let library: LDAPLibrary
    let pointer: OpaquePointer
    private let watch: SocketWatch
    private let deadline: ContinuousClock.Instant

    /// Prepares a connection, which is opened when it is first used.
    ///
    /// libldap: `ldap_initialize`
    init(_ server: String, until deadline: ContinuousClock.Instant) throws(DiscoveryOutage) {
        library = try LDAPLibrary.shared
        var made: OpaquePointer?
        let code = library.initialize(&made, server)
        guard code == CInt(LDAP_SUCCESS), let made else {
            throw .fault("libldap rejects the URL: \(Self.text(code, library))")
        }
        pointer = made
        self.deadline = deadline
        watch = SocketWatch(library, until: deadline)
        try set(LDAP_OPT_CONNECT_CB, watch.callbacks)
        var version = CInt(LDAP_VERSION3)
        var aliases = CInt(LDAP_DEREF_NEVER)
        try set(LDAP_OPT_PROTOCOL_VERSION, &version)
        try set(LDAP_OPT_DEREF, &aliases)
        // A null pointer means "off". Referrals are not followed, because the password for this server must not be sent to
        // another server.
        try set(LDAP_OPT_REFERRALS, nil)
        var time = try Self.timeLeft(until: deadline)
        try set(LDAP_OPT_NETWORK_TIMEOUT, &time)
        try set(LDAP_OPT_TIMEOUT, &time)
        var buffer: OpaquePointer?
        var limit = UInt(Self.maximumAnswer)
        guard library.getOption(pointer, CInt(LDAP_OPT_SOCKBUF), &buffer) == CInt(LDAP_SUCCESS),
            let buffer, library.controlBuffer(buffer, CInt(LBER_SB_OPT_SET_MAX_INCOMING), &limit) >= 0
        else { throw .fault("libldap cannot limit the size of answers") }
    }

    deinit {
        _ = library.unbind(pointer, nil, nil)
        watch.end()
    }

    /// Requires the server to present a certificate for its name that was issued under one of the authorities in the file
    /// `authorities`.
    func requireCertificate(authorities: String) throws(DiscoveryOutage) {
        var demand = CInt(LDAP_OPT_X_TLS_DEMAND)
        var version = CInt(LDAP_OPT_X_TLS_PROTOCOL_TLS1_2)
        var isServer: CInt = 0
        try set(LDAP_OPT_X_TLS_REQUIRE_CERT, &demand)
        try set(LDAP_OPT_X_TLS_PROTOCOL_MIN, &version)
        // If the certificate names hosts, its common name is ignored (RFC 6125 §6.4.4). libldap 2.4 does not know this option.
        var alternativeNames = CInt(LDAP_OPT_X_TLS_TRY)
        _ = library.setOption(pointer, CInt(LDAP_OPT_X_TLS_REQUIRE_SAN), &alternativeNames)
        let code = library.setOption(pointer, CInt(LDAP_OPT_X_TLS_CACERTFILE), authorities)
        guard code == CInt(LDAP_SUCCESS) else { throw failure(code) }
        // Without a new TLS context, libldap ignores the options above.
        guard library.setOption(pointer, CInt(LDAP_OPT_X_TLS_NEWCTX), &isServer) == CInt(LDAP_SUCCESS) else {
            throw .fault("\(authorities): no usable CA certificates for TLS")
        }
    }

    /// Starts TLS on the connection.
    ///
    /// libldap: `ldap_start_tls_s`
    func startTLS() throws(DiscoveryOutage) {
        let code = library.startTLS(pointer, nil, nil)
        guard code == CInt(LDAP_SUCCESS) else { throw failure(code) }
    }

    /// Logs in to the directory (bind).
    ///
    /// libldap: `ldap_sasl_bind_s`
    func bind(_ name: String, _ password: inout [UInt8]) throws(DiscoveryOutage) {
        let code = password.withUnsafeMutableBytes { bytes in
            var credentials = berval(
                bv_len: UInt(bytes.count),
                bv_val: bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            )
            return library.bind(pointer, name, nil, &credentials, nil, nil, nil)
        }
        guard code == CInt(LDAP_SUCCESS) else { throw failure(code) }
    }

    /// Searches the directory.
    ///
    /// - Returns: the values of the attributes that `url` names, in the first entries that match the filter; and whether the
    ///   search ended before a limit.
    ///
    /// libldap: `ldap_search_ext`, `ldap_result`
    func search(
        _ url: LDAPURL,
        _ filter: String,
        until deadline: ContinuousClock.Instant
    ) throws(DiscoveryOutage) -> LDAPDirectory.Answer {
        var time = try Self.timeLeft(until: deadline)
        var names: [UnsafeMutablePointer<CChar>?] = url.attributes.map { strdup($0) } + [nil]
        defer { for name in names { free(name) } }
        var identifier: CInt = 0
        let code = library.search(
            pointer,
            url.base,
            url.scope.code,
            filter,
            &names,
            0,
            nil,
            nil,
            &time,
            CInt(Self.maximumEntries),
            &identifier
        )
        guard code == CInt(LDAP_SUCCESS) else { throw failure(code) }
        var answer = LDAPDirectory.Answer()
        receivedCount = 0
        do throws(DiscoveryOutage) {
            // The messages are read one by one: otherwise libldap would collect everything that the server sends, whatever
            // limit was requested.
            for _ in 0..<Self.maximumMessages where !answer.isFull {
                if try next(identifier, url.attributes, until: deadline, &answer) { return answer }
            }
        } catch {
            // The server is not silent, so the outage concerns this address alone: others may have made its answer large.
            guard error == .timeLimit, isReceiving || !answer.values.isEmpty else { throw error }
            throw .readingTooLong
        }
        // The rest of the answer would delay the answers about other addresses.
        hasEnded = true
        answer.isComplete = false
        return answer
    }

    /// Reads the next message of the search result. If the message is an entry, its values are added to `answer`.
    ///
    /// - Returns: whether it was the last message.
    private func next(
        _ identifier: CInt,
        _ attributes: [String],
        until deadline: ContinuousClock.Instant,
        _ answer: inout LDAPDirectory.Answer
    ) throws(DiscoveryOutage) -> Bool {
        var message: OpaquePointer?
        let kind = try receive(identifier, until: deadline, &message)
        defer { if let message { _ = library.freeMessage(message) } }
        guard kind > 0, let message else {
            throw kind < 0 ? end() : DiscoveryOutage.timeLimit
        }
        if kind == CInt(LDAP_RES_SEARCH_ENTRY) {
            if let entry = library.firstEntry(pointer, message) { add(entry, attributes, to: &answer) }
            return false
        }
        guard kind == CInt(LDAP_RES_SEARCH_RESULT) else { return false }
        var code: CInt = 0
        let parsed = library.parseResult(pointer, message, &code, nil, nil, nil, nil, 0)
        guard parsed == CInt(LDAP_SUCCESS) else { throw failure(parsed) }
        guard code != CInt(LDAP_SIZELIMIT_EXCEEDED) else {
            answer.isComplete = false
            return true
        }
        guard code == CInt(LDAP_SUCCESS) else { throw failure(code) }
        return true
    }

    /// Notes the end of the connection while an answer was read. The cause may be an entry that others made too large.
    private func end() -> DiscoveryOutage {
        hasEnded = true
        var code: CInt = 0
        _ = library.getOption(pointer, CInt(LDAP_OPT_RESULT_CODE), &code)
        let outage = failure(code)
        guard outage != .timeLimit else { return outage }
        return DiscoveryOutage("it ended the connection, or its answer about the address is too large", holdsMail: true)
    }

    private func add(_ entry: OpaquePointer, _ wanted: [String], to answer: inout LDAPDirectory.Answer) {
        var position: OpaquePointer?
        var name = library.firstAttribute(pointer, entry, &position)
        while let attribute = name {
            if Self.isWanted(String(cString: attribute), wanted) { addValues(of: entry, attribute, to: &answer) }
            library.freeMemory(attribute)
            name = library.nextAttribute(pointer, entry, position)
        }
        if let position { library.freeElement(position, 0) }
    }

    private func addValues(
        of entry: OpaquePointer,
        _ attribute: UnsafePointer<CChar>,
        to answer: inout LDAPDirectory.Answer
    ) {
        guard let list = library.values(pointer, entry, attribute) else { return }
        defer { library.freeValues(list) }
        var next = list
        while let value = next.pointee?.pointee, !answer.isFull {
            if let start = value.bv_val {
                answer.add([UInt8](UnsafeRawBufferPointer(start: start, count: Int(value.bv_len))))
            }
            next += 1
        }
    }

    /// Whether `name` is one of `wanted`, without regard to attribute options.
    private static func isWanted(_ name: String, _ wanted: [String]) -> Bool {
        func kind(_ name: String) -> String { String(name.prefix { $0 != ";" }).lowercased() }
        return wanted.contains { kind($0) == kind(name) }
    }

    private func set(_ option: Int, _ value: UnsafeRawPointer?) throws(DiscoveryOutage) {
        let code = library.setOption(pointer, CInt(option), value)
        guard code == CInt(LDAP_SUCCESS) else { throw failure(code) }
    }

    static func timeLeft(until deadline: ContinuousClock.Instant) throws(DiscoveryOutage) -> timeval {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { throw .timeLimit }
        let (seconds, attoseconds) = left.components
        return timeval(tv_sec: Int(seconds), tv_usec: max(1, Int(attoseconds / 1_000_000_000_000)))
    }

    /// The error for a failed call.
    private func failure(_ code: CInt) -> DiscoveryOutage {
        // A connection that was cut at the deadline fails with an arbitrary error code.
        let isOver = code == CInt(LDAP_TIMEOUT) || code == CInt(LDAP_TIMELIMIT_EXCEEDED) || .now >= deadline
        if isOver { return .timeLimit }
        let tls = code == CInt(LDAP_CONNECT_ERROR) ? " (TLS: see lookup.ldap.ca-file)" : ""
        return DiscoveryOutage("the directory cannot be searched: \(Self.text(code, library))\(tls)")
    }

    private static func text(_ code: CInt, _ library: LDAPLibrary) -> String {
        library.errorText(code).map { String(cString: $0) } ?? "error \(code)"
    }
}

extension LDAPURL.Scope {
    fileprivate var code: CInt {
        switch self {
        case .base: CInt(LDAP_SCOPE_BASE)
        case .oneLevel: CInt(LDAP_SCOPE_ONELEVEL)
        case .subtree: CInt(LDAP_SCOPE_SUBTREE)
        }
    }
}
