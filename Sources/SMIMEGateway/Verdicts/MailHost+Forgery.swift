import InternetMessage
import SMIME

extension MailHost {
    /// Whether `field`, from a received message, imitates a field of this filter and must be removed.
    ///
    /// Fields whose names can be mistaken for those of this filter are removed: `X_SMIME-Verdict`, `XSMIME`, `X-S/MIME`, for
    /// example. An Authentication-Results field is removed if its author can be mistaken for this host. Comments, blanks,
    /// quotes, brackets, folding, control characters, encoded words, confusable characters and the case of letters do not
    /// prevent this. A field that clearly names another host stays. A field whose host cannot be read is removed. A field
    /// that names no host, as Microsoft 365 writes it, is removed only if it has a result of the method `smime`.
    ///
    /// RFC 8601 §5
    func isForged(_ field: HeaderField) -> Bool { isForged(name: field.name, value: field.value) }

    /// The same check for `line`, which is not a field to this program, but may be one to people or to programs that permit
    /// other characters in names.
    func isForged(line: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: line, as: UTF8.self).unicodeScalars
        // The candidates are the first colon, and the first character that resembles a colon.
        let colons = Set([text.firstIndex(of: ":"), text.firstIndex(where: SubjectSkeleton.isColon)].compactMap { $0 })
        return colons.contains { isForged(name: String(text[..<$0]), value: String(text[text.index(after: $0)...])) }
    }

    private func isForged(name: String, value: @autoclosure () -> String) -> Bool {
        guard name.utf8.count <= Self.longestFieldName, Self.mayBeOurs(name) else { return false }
        let words = SubjectSkeleton(name).text.split { !$0.isLetter && !$0.isNumber }
            .map { ConfusableWord.folded(String($0)) }
        func isConfusable(_ words: some Sequence<String>, with name: String) -> Bool {
            ConfusableWord.isConfusable(words.joined(), with: ConfusableWord.folded(name))
        }
        // Only the first words of the name are compared; any words may follow. X-SMIMEA is another name.
        if (1...3).contains(where: { isConfusable(words.prefix($0), with: "xsmime") }) { return true }
        if Self.fieldNames.contains(where: { isConfusable(words, with: $0) }) { return true }
        guard isConfusable(words, with: "authenticationresults") || isConfusable(words, with: "authenticationresult")
        else {
            return false
        }
        let value = AuthservID.beginning(of: value())
        // An international name without its accents would be another name, so it is compared with them.
        if !value.utf8.allSatisfy({ $0 < 0x80 }), AuthservID.internationalWords(of: value).contains(where: isOwnName) {
            return true
        }
        guard let readable = EncodedWord.decodeLoosely(value) else { return true }
        return resemblesOwnIdentifier(AuthservID(value))
            || readable != value && resemblesOwnIdentifier(AuthservID(readable))
    }

    /// A quick test whether a name may begin with the first letter of a field of this filter.
    private static func mayBeOurs(_ name: String) -> Bool {
        // No field of this filter has a shorter name.
        guard name.utf8.count >= 6 else { return false }
        let first = name.unicodeScalars.first {
            !$0.isASCII || $0.properties.isAlphabetic || $0.properties.numericType != nil
        }
        return first.map { !$0.isASCII || "4aAxX".unicodeScalars.contains($0) } ?? false
    }

    private func resemblesOwnIdentifier(_ identifier: AuthservID) -> Bool {
        identifier.isUnreadable || hasOurName(identifier.words)
            || !identifier.isPlain && hasOurName(identifier.allWords)
            || identifier.isNameless && (identifier.isCut || Self.hasMethod(identifier.allWords))
    }

    /// Whether consecutive `words` form the name of the method `smime`.
    private static func hasMethod(_ words: [String]) -> Bool {
        let method = ConfusableWord.folded("smime")
        return contains(words, longest: method.count) {
            ConfusableWord.isConfusable(ConfusableWord.folded($0), with: method)
        }
    }

    /// Whether consecutive `words` form a name of this host, also if they are separated by marks.
    private func hasOurName(_ words: [String]) -> Bool {
        Self.contains(words, longest: longestName, resemblesOwnName)
    }

    private static func contains(_ words: [String], longest: Int, _ isMeant: (String) -> Bool) -> Bool {
        words.indices.contains { start in
            var name = ""
            for word in words[start...] {
                name += word
                // 64 more characters are permitted, because marks before and after a name are ignored.
                guard name.count <= longest + 64 else { return false }
                if isMeant(name.trimmingMarks) { return true }
            }
            return false
        }
    }

    /// The bytes of `field`. If some programs would end a line inside the field and see a verdict after that, blanks
    /// replace the line end.
    func withoutHiddenVerdicts(_ field: HeaderField) -> [UInt8] {
        guard LineSeparator.mayOccur(in: field.rawBytes) else { return Array(field.rawBytes) }
        let lines = field.rawBytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            (pieces: LineSeparator.pieces(of: line), isReturned: line.last == UInt8(ascii: "\r"))
        }
        guard lines.contains(where: { $0.pieces.dropFirst().contains(where: isForged(line:)) }) else {
            return Array(field.rawBytes)
        }
        let clean = lines.map {
            Array($0.pieces.joined(separator: " ".utf8)) + ($0.isReturned ? [UInt8(ascii: "\r")] : [])
        }
        return Array(clean.joined(separator: "\n".utf8))
    }

    /// The longest name of this filter's fields has 22 bytes. A confusable character may need four bytes for each letter.
    private static let longestFieldName = 256
    /// The letters of the names of fields that this filter writes, for imitations without hyphens.
    private static let fieldNames = ["xsmimedecrypted", "xsmimefiltered"]
}

extension String {
    /// The string without dots, hyphens and underscores at both ends.
    fileprivate var trimmingMarks: String {
        let marks: Set<Character> = [".", "-", "_"]
        return String(drop(while: marks.contains).reversed().drop(while: marks.contains).reversed())
    }
}
