extension DistinguishedName {
    /// 32 bytes that are equal for names that match, by which an index finds them.
    public var matchingKey: [UInt8] {
        get throws(CMSError) {
            var form: [UInt8] = []
            for relativeName in canonical {
                let attributes = relativeName.map { Self.framed(Array("\($0.type)".utf8)) + Self.framed($0.value) }
                form += Self.framed(attributes.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self))
            }
            return try lift { () throws(OpenSSLError) in try DigestAlgorithm.sha256.digest(form) }
        }
    }

    /// `bytes` behind their length, so that no two sequences of fields look the same.
    private static func framed(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }
}
