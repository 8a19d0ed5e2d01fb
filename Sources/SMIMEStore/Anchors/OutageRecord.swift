import Foundation

/// The services that did not answer in time, in the table `service_outage`, whose column `url` has the host and port. A
/// record is used for a few minutes.
enum OutageRecord {
    /// How long a record is used, in seconds.
    static let memory = 300
    /// The maximum number of records.
    private static let maximumCount = 256
    /// The maximum length of a recorded service name, in bytes.
    private static let maximumName = 2048

    private static let table = "service_outage"

    /// Records that `services` did not answer. Deletes old records, and the records of services that `answered`.
    ///
    /// - Parameter time: seconds since 1970.
    static func insert(_ services: [String], answered: [String], at time: Int, into database: SQLDatabase) throws {
        guard !services.isEmpty || !answered.isEmpty else { return }
        for service in services.prefix(maximumCount) where service.utf8.count <= maximumName {
            try database.execute(
                "INSERT INTO \(table) (url, time) VALUES (?, ?) ON CONFLICT (url) DO UPDATE SET time = excluded.time",
                [service, time],
                isCounted: false
            )
        }
        for service in answered {
            try database.execute("DELETE FROM \(table) WHERE url = ?", [service], isCounted: false)
        }
        // A time in the future was recorded with a wrong clock.
        try database.execute(
            """
            DELETE FROM \(table) WHERE time <= ? OR time > ?
                OR url NOT IN (SELECT url FROM \(table) ORDER BY time DESC LIMIT \(maximumCount))
            """,
            [time - memory, time],
            isCounted: false
        )
    }

    /// The services that did not answer within the last minutes before `time`, with the time of the failure.
    static func services(at time: Int, in database: SQLDatabase) throws -> [String: Date] {
        let rows = try database.rows(
            "SELECT url, time FROM \(table) WHERE time > ? AND time <= ? LIMIT \(maximumCount)",
            [time - memory, time]
        )
        return try rows.reduce(into: [:]) { $0[try $1.value("url") as String] = try $1.date("time") }
    }
}
