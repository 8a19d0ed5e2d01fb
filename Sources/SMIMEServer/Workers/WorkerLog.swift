package import LibCrypto
package import SMIMEGateway

/// What a worker says of a message for the log.
package struct WorkerLog: Equatable, Sendable {
    /// What stands before the status.
    package var fields: [LogField] = []
    /// What stands at the end of the line.
    package var details: [LogField] = []
    /// Sentences for the administrator.
    package var warnings: [String] = []
    /// How many look-ups in the store its cache answered since the last message, and how many it did not.
    package var cacheHits = 0, cacheMisses = 0
    /// What libcrypto took since the last message.
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
