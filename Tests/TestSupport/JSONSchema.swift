public import Foundation

/// A JSON schema with the keywords of docs/smime-report.schema.json; an unknown keyword is reported as an error.
public struct JSONSchema: Sendable {
    private struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private let definitions: [String: JSONValue]

    public init(contentsOf url: URL) throws {
        let document = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: url))
        guard let definitions = document.object?["$defs"]?.object else {
            throw Unusable(description: "\(url.path): no $defs")
        }
        self.definitions = definitions
    }

    /// The names of all definitions.
    public var names: Set<String> { Set(definitions.keys) }

    /// The violations of the document `bytes` against the definitions `names`; nil if it matches one of them.
    public func validationError(for bytes: [UInt8], _ names: [String]) -> String? {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { return "no JSON" }
        let validationErrors = names.map {
            validationError(for: value, against: .object(["$ref": .string("#/$defs/\($0)")]), at: $0)
        }
        return validationErrors.contains(nil) ? nil : validationErrors.compactMap(\.self).joined(separator: "; ")
    }

    /// The first part of `value`, which is at `place`, that `schema` does not allow.
    private func validationError(for value: JSONValue, against schema: JSONValue, at place: String) -> String? {
        guard let rules = schema.object else { return "\(place): the schema is no object" }
        for (keyword, rule) in rules.sorted(by: { $0.key < $1.key }) {
            if let validationError = validationError(for: value, keyword, rule: rule, among: rules, at: place) {
                return validationError
            }
        }
        return nil
    }

    private func validationError(
        for value: JSONValue,
        _ keyword: String,
        rule: JSONValue,
        among rules: [String: JSONValue],
        at place: String
    ) -> String? {
        switch keyword {
        case "description": return nil
        case "$ref":
            let name = rule.string?.replacing("#/$defs/", with: "") ?? ""
            guard let schema = definitions[name] else { return "\(place): no definition \(name)" }
            return validationError(for: value, against: schema, at: place)
        case "allOf":
            return (rule.array ?? []).lazy.compactMap { validationError(for: value, against: $0, at: place) }.first
        case "anyOf":
            let validationErrors = (rule.array ?? []).map { validationError(for: value, against: $0, at: place) }
            return validationErrors.contains(nil) ? nil : validationErrors.compactMap(\.self).joined(separator: " | ")
        case "const": return value == rule ? nil : "\(place): not \(rule)"
        case "enum": return rule.array?.contains(value) == true ? nil : "\(place): \(value) is not in the enum"
        case "minimum": return (value.number ?? 0) >= (rule.number ?? 0) ? nil : "\(place): too small"
        case "pattern":
            guard let text = value.string, let pattern = try? Regex(rule.string ?? "[") else { return nil }
            return text.firstMatch(of: pattern) == nil ? "\(place): '\(text)' is not in the pattern" : nil
        case "type":
            let types = rule.array?.compactMap(\.string) ?? [rule.string ?? ""]
            return types.contains(value.typeName) ? nil : "\(place): is \(value.typeName), not \(types)"
        default: return validationErrorOfParts(for: value, keyword, rule: rule, among: rules, at: place)
        }
    }

    /// Like `validationError`, for the keywords about arrays and objects.
    private func validationErrorOfParts(
        for value: JSONValue,
        _ keyword: String,
        rule: JSONValue,
        among rules: [String: JSONValue],
        at place: String
    ) -> String? {
        switch keyword {
        case "items":
            for (index, item) in (value.array ?? []).enumerated() {
                if let validationError = validationError(for: item, against: rule, at: "\(place).\(index)") {
                    return validationError
                }
            }
        case "required":
            let missing = (rule.array ?? []).compactMap(\.string).first { value.object?[$0] == nil }
            if let missing { return "\(place): no \(missing)" }
        case "properties":
            for (name, schema) in rule.object ?? [:] {
                if let part = value.object?[name],
                    let validationError = validationError(for: part, against: schema, at: "\(place).\(name)")
                {
                    return validationError
                }
            }
        case "additionalProperties":
            let known = rules["properties"]?.object ?? [:]
            for (name, part) in value.object ?? [:] where known[name] == nil {
                guard rule.object != nil else { return "\(place): \(name) is not in the schema" }
                if let validationError = validationError(for: part, against: rule, at: "\(place).\(name)") {
                    return validationError
                }
            }
        default: return "\(place): unknown keyword \(keyword)"
        }
        return nil
    }
}
