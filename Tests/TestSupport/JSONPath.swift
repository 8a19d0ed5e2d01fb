import Foundation

/// A path in a JSON document, such as `signers.0.integrity.ok`; `count` is the length of an array.
struct JSONPath {
    private let keys: [Substring]

    init(_ text: String) { keys = text.split(separator: ".") }

    /// The value at the path: a string without quotes, any other value as JSON with sorted keys; nil if there is none.
    func look(in bytes: [UInt8]) throws -> String? {
        var value: Any? = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        for key in keys {
            value =
                switch value {
                case let object as [String: Any]: object[String(key)]
                case let array as [Any] where key == "count": array.count
                case let array as [Any]: Int(key).flatMap { array.indices.contains($0) ? array[$0] : nil }
                default: nil
                }
        }
        guard let value else { return nil }
        if let string = value as? String { return string }
        let json = try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys])
        return String(decoding: json, as: UTF8.self)
    }
}
