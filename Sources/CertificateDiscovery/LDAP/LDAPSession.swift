/// Searches a directory for several addresses, for use by one thread. If the answer about one address ends the
/// connection, another connection is opened for the others.
package struct LDAPSession {
    /// The maximum number of connections.
    private static let maximumConnections = 4

    private let directory: LDAPDirectory
    private let deadline: ContinuousClock.Instant
    private var connection: LDAPConnection
    private var connectionCount = 1

    /// Opens the first connection.
    ///
    /// - Throws: `DiscoveryOutage`
    package init(_ directory: LDAPDirectory, until deadline: ContinuousClock.Instant) throws(DiscoveryOutage) {
        self.directory = directory
        self.deadline = deadline
        connection = try directory.connect(until: deadline)
    }

    /// The values of the certificate attributes in the entries found for `address`.
    ///
    /// - Throws: `DiscoveryOutage`. After the first connection ended, it holds mail: one address must not make mail to
    ///   the others leave in clear.
    package mutating func answer(about address: String) throws(DiscoveryOutage) -> LDAPDirectory.Answer {
        do throws(DiscoveryOutage) {
            if connection.hasEnded {
                guard connectionCount < Self.maximumConnections else {
                    throw DiscoveryOutage("it ended \(connectionCount) connections")
                }
                connectionCount += 1
                connection = try directory.connect(until: deadline)
            }
            return try directory.answer(about: address, by: connection, until: deadline)
        } catch {
            guard connectionCount > 1 else { throw error }
            throw DiscoveryOutage(error.reason, holdsMail: true)
        }
    }
}
