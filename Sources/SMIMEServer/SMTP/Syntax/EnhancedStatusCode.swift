/// The status code that precedes a reply's text, such as `5.7.1`.
///
/// RFC 3463 §2
package struct EnhancedStatusCode: Hashable, Sendable {
    /// The class: 2 for success, 4 for a temporary failure, 5 for a permanent failure.
    package let statusClass: Int
    package let subject: Int
    package let detail: Int

    /// - Returns: nil unless the class is 2, 4 or 5, and subject and detail have at most three digits.
    package init?(_ statusClass: Int, subject: Int, detail: Int) {
        guard [2, 4, 5].contains(statusClass), 0...999 ~= subject, 0...999 ~= detail else { return nil }
        (self.statusClass, self.subject, self.detail) = (statusClass, subject, detail)
    }

    /// Reads `5.7.1`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let fields = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard fields.count == 3 else { return nil }
        let numbers = fields.compactMap { field -> Int? in
            guard 1...3 ~= field.count, field.allSatisfy({ 48...57 ~= $0 }) else { return nil }
            return field.reduce(0) { 10 * $0 + Int($1 - 48) }
        }
        guard numbers.count == 3 else { return nil }
        self.init(numbers[0], subject: numbers[1], detail: numbers[2])
    }
}

extension EnhancedStatusCode: CustomStringConvertible {
    package var description: String { "\(statusClass).\(subject).\(detail)" }
}

extension EnhancedStatusCode: ExpressibleByStringLiteral {
    /// A literal code. A malformed literal becomes "other or undefined" (RFC 3463 §3.1).
    package init(stringLiteral text: StaticString) {
        self = Self("\(text)") ?? Self(undefinedOf: 5)
    }

    /// The code "other or undefined status" of a class.
    private init(undefinedOf statusClass: Int) {
        (self.statusClass, subject, detail) = (statusClass, 0, 0)
    }

    /// The code with the class of a reply's code, which RFC 2034 §4 requires; nil if the reply's class has no enhanced codes.
    func matching(replyCode: Int) -> EnhancedStatusCode? {
        EnhancedStatusCode(replyCode / 100, subject: subject, detail: detail)
    }
}
