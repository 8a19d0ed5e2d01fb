extension SevenBitPlan {
    /// Adds the header, with `newEncoding` as its Content-Transfer-Encoding; nil keeps the previous one.
    ///
    /// - Parameters:
    ///   - newType: another media type, with the same parameters; nil keeps the previous one.
    ///   - addsVersion: whether to add a missing MIME-Version, without which the header of a message is not a MIME header.
    mutating func addHeader(
        of entity: Entity,
        replacement: SevenBitEncoding.Header?,
        newEncoding: TransferEncoding?,
        newType: String? = nil,
        addsVersion: Bool = false
    ) throws {
        let header = entity.header
        if newEncoding != nil { needsEncoding = true }
        if let replacement {
            // Only the Content fields are converted. All other fields stay as the author of the mail wrote them.
            return try addLiteral(inSevenBits(replacement(newEncoding), of: entity) { $0.isContentField })
        }
        guard newEncoding != nil || header.has8Bit || header.hasLongLine else {
            let clean = Array(header.bytes).asSafeHeader
            guard clean != header.bytes else {
                return try append(.lines(entity.range.lowerBound..<entity.bodyRange.lowerBound))
            }
            needsEncoding = true
            return try addLiteral(clean + header.separator)
        }
        var field = newEncoding.map { NewField("Content-Transfer-Encoding", value: $0.name).bytes(lineEnd: .crlf) }
        var type = newType.map { NewField("Content-Type", value: $0).bytes(lineEnd: .crlf) }
        var bytes = Array(header.leadingBytes)
        for other in header.fields {
            if newEncoding != nil, other.isNamed("Content-Transfer-Encoding") {
                bytes += field ?? []
                field = nil
            } else if let newType, other.isNamed("Content-Type") {
                if type != nil { bytes += other.withType(newType) }
                type = nil
            } else {
                bytes += other.terminatedBytes(.crlf)
            }
        }
        if addsVersion, header.first("MIME-Version") == nil {
            bytes += NewField("MIME-Version", value: "1.0").bytes(lineEnd: .crlf)
        }
        bytes += (type ?? []) + (field ?? [])
        let separator = newEncoding == nil ? header.separator : LineEnd.crlf.bytes
        try addLiteral(inSevenBits(bytes + separator, of: entity) { _ in true })
    }

    private mutating func addLiteral(_ bytes: [UInt8]) throws {
        try append(.literal(bytes.asSafeHeader.withLines(endingIn: .crlf)))
    }

    /// The header `bytes` of `entity` with the selected fields in 7-bit and short lines; unchanged if that is impossible.
    private mutating func inSevenBits(
        _ bytes: [UInt8],
        of entity: Entity,
        where isMeant: (HeaderField) -> Bool
    ) -> [UInt8] {
        guard let header = try? HeaderBlock(parsing: bytes), header.has8Bit || header.hasLongLine else { return bytes }
        var output = Array(header.leadingBytes)
        for field in header.fields {
            guard isMeant(field), field.needsSevenBits else {
                output += field.rawBytes
                continue
            }
            needsEncoding = true
            guard let safe = field.inSevenBits(.crlf) else {
                unsafeParts.append(entity.range)
                return bytes
            }
            output += safe
        }
        return output + header.separator
    }
}

extension HeaderField {
    /// A Content-Type with another media type and the same parameters.
    fileprivate func withType(_ name: String) -> [UInt8] {
        let (pieces, end) = parameterPieces(.crlf)
        return Array("Content-Type: \(name)".utf8) + pieces.dropFirst().flatMap { $0 } + end
    }
}
