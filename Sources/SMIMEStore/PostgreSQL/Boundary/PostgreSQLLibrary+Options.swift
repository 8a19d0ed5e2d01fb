import CPostgreSQL
import Foundation

extension PostgreSQLLibrary {
    /// A connection with `options`; nil without memory. It must be finished, whether it is connected or not.
    ///
    /// libpq: `PQconnectdbParams`
    func connection(_ options: [String: String]) -> OpaquePointer? {
        let names = options.keys.sorted()
        let keywords = names.map { strdup($0) } + [nil]
        let values = names.map { strdup(options[$0] ?? "") } + [nil]
        defer { (keywords + values).forEach { free($0) } }
        return connect(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 0)
    }

    /// The options that `url` names; nil if it is none.
    ///
    /// libpq: `PQconninfoParse`
    func options(in url: String) -> [String: String]? {
        var message: UnsafeMutablePointer<CChar>?
        guard let first = parse(url, &message) else {
            // What libpq says may quote the URL, and so the password.
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
