/// Searches a directory for several addresses, for use by one thread. If the answer about one address ends the
/// connection, or is too large, another connection is opened for the others.
package struct LDAPSession {
    /// The maximum number of connections.
    private static let maximumConnections = 4

    private let directory: LDAPDirectory
    private let deadline: ContinuousClock.Instant
    private var connection: LDAPConnection?
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
    /// - Throws: `DiscoveryOutage`. After the first connection ended, an address without an answer has missed its turn.
    ///   Otherwise the answer about another address could make mail to this address leave unencrypted.
    package mutating func answer(about address: String) throws(DiscoveryOutage) -> LDAPDirectory.Answer {
        do throws(DiscoveryOutage) {
            let connection = try openConnection()
            return try directory.answer(about: address, by: connection, until: deadline)
        } catch {
            guard connectionCount > 1, !error.holdsMail else { throw error }
            throw .missedTurn(error.reason)
        }
    }

    private mutating func openConnection() throws(DiscoveryOutage) -> LDAPConnection {
        if let connection, !connection.hasEnded { return connection }
        // Nothing more arrives on the old connection while the new one is opened.
        connection = nil
        guard connectionCount < Self.maximumConnections else {
            throw DiscoveryOutage("\(connectionCount) connections ended")
        }
        connectionCount += 1
        let new = try directory.connect(until: deadline)
        connection = new
        return new
    }
}
