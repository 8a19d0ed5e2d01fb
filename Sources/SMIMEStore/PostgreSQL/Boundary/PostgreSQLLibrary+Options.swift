import CPostgreSQL
import Foundation

extension PostgreSQLLibrary {
    /// A connection with `options`; nil if memory is exhausted. The caller must finish the connection, even if connecting
    /// failed.
    ///
    /// libpq: `PQconnectdbParams`
    func connection(_ options: [String: String]) -> OpaquePointer? {
        let names = options.keys.sorted()
        let keywords = names.map { strdup($0) } + [nil]
        let values = names.map { strdup(options[$0] ?? "") } + [nil]
        defer { (keywords + values).forEach { free($0) } }
        return connect(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 0)
    }

    /// The options in `url`; nil if `url` is not a valid URL.
    ///
    /// libpq: `PQconninfoParse`
    func options(in url: String) -> [String: String]? {
        var message: UnsafeMutablePointer<CChar>?
        guard let first = parse(url, &message) else {
            // The message of libpq is not used: it may quote the URL with the password.
            freeMemory(message)
            return nil
        }
        defer { freeOptions(first) }
        var given: [String: String] = [:]
        var option = first
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { given[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return given
    }
}
