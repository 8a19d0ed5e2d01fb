package import LibCrypto
package import SMIMEGateway

/// A worker's part of the log entry for a message.
package struct WorkerLog: Equatable, Sendable {
    /// The fields before the status.
    package var fields: [LogField] = []
    /// The fields at the end of the line.
    package var details: [LogField] = []
    /// Sentences for the administrator.
    package var warnings: [String] = []
    /// How many look-ups in the store its cache answered since the last message, and how many it did not.
    package var cacheHits = 0, cacheMisses = 0
    /// The time that libcrypto used since the last message.
    package var cryptoTime = CryptoTime()

    package init(
        fields: [LogField] = [],
        details: [LogField] = [],
        warnings: [String] = [],
        cacheHits: Int = 0,
        cacheMisses: Int = 0,
        cryptoTime: CryptoTime = CryptoTime()
    ) {
        self.fields = fields
        self.details = details
        self.warnings = warnings
        self.cacheHits = cacheHits
        self.cacheMisses = cacheMisses
        self.cryptoTime = cryptoTime
    }
}
