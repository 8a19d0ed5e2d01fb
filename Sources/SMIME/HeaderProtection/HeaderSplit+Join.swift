package import InternetMessage

extension HeaderSplit {
    /// The header of the original message, including the empty line. `outer` is the header of the protected message, `inner`
    /// the header of the protected entity. The line ends are those of `outer`.
    ///
    /// Of the inner header only these fields are used:
    /// - The Content-* fields.
    /// - MIME-Version, if the outer header has none, or only the one that smime added.
    /// - Fields that people read, such as Subject, if the outer header has no such field. For example, mail that `openssl smime
    ///   -encrypt` made without `-subject` keeps its Subject.
    package static func join(outer: HeaderBlock, inner: HeaderBlock) -> [UInt8] {
        join(outer: outer, inner: inner, .all)
    }

    /// As `join(outer:inner:)`, but only with the fields of the inner header that `extent` includes.
    ///
    /// - Parameter between: the headers of decrypted layers around the inner header. Their fields that people read are used
    ///   if neither the outer nor the inner header has such a field.
    package static func join(
        outer: HeaderBlock,
        inner: HeaderBlock,
        _ extent: ProtectedHeader.Extent,
        between: [HeaderBlock] = []
    ) -> [UInt8] {
        let slots = outer.fields.indices.filter { isReplaced(outer.fields[$0], outer.lineEnd) }
        let hasVersion = outer.fields.contains { $0.isNamed("MIME-Version") && !isReplaced($0, outer.lineEnd) }
        var known = Set(outer.fields.map { $0.name.lowercased() })
        // A gateway checks the author by the outer From. If there is none, an inner From would be shown unchecked.
        if extent == .gateway { known.insert("from") }
        func isMissing(_ field: HeaderField) -> Bool {
            let name = field.name.lowercased()
            return HeaderFieldKind.gatewayNames.contains(name) && !known.contains(name)
        }
        var moved = extent.once(
            inner.fields.filter { field in
                guard !field.isContentField else { return extent.includesContent(field.name.lowercased()) }
                return field.isNamed("MIME-Version") ? !hasVersion : isMissing(field)
            }
        )
        .map { ($0, inner.lineEnd) }
        var header = inner
        for next in between.reversed() {
            known.formUnion(header.fields.map { $0.name.lowercased() })
            moved += extent.once(next.fields.filter(isMissing)).map { ($0, next.lineEnd) }
            header = next
        }
        var places = [Int: [UInt8]]()
        var place = slots.first ?? outer.fields.endIndex
        let marks = marks(slots.map { ($0, outer.fields[$0]) }, names: moved.map { $0.0.name.lowercased() })
        for (number, (field, lineEnd)) in moved.enumerated() {
            place = marks[number] ?? place
            places[place, default: []] += field.terminatedBytes(lineEnd).withLines(endingIn: outer.lineEnd)
        }
        let replaced = Set(slots)
        var output = Array(outer.leadingBytes)
        for (index, field) in zip(outer.fields.indices, outer.fields) {
            output += replaced.contains(index) ? places[index] ?? [] : field.terminatedBytes(outer.lineEnd)
        }
        output += places[outer.fields.endIndex] ?? []
        return output + inner.ending.withLines(endingIn: outer.lineEnd)
    }

    /// Whether `field` of the outer header only describes the protected content, so that it is omitted from the joined
    /// header.
    static func isReplaced(_ field: HeaderField, _ lineEnd: LineEnd) -> Bool {
        field.isContentField || field.isNamed(placeholderName)
            || field.rawBytes.elementsEqual(addedVersion.bytes(lineEnd: lineEnd))
    }

    /// The index of the outer field at the original place of each moved field; the key is the number of the moved field.
    private static func marks(_ slots: [(index: Int, field: HeaderField)], names: [String]) -> [Int: Int] {
        var marks: [Int: Int] = [:]
        let firstNumbers = names.firstPlaces
        for (index, field) in slots {
            let number = field.isNamed(placeholderName) ? Int(field.value) : firstNumbers[field.name.lowercased()]
            if let number, marks[number] == nil { marks[number] = index }
        }
        return marks
    }
}
