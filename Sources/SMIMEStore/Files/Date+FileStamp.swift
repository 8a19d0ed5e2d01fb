import Foundation

extension Date {
    /// The time in a form for names of files, such as `20261127T051500Z`.
    var fileStamp: String { formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted)) }
}
