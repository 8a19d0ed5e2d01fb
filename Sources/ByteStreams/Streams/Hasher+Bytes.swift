extension Hasher {
    /// Feeds all of `bytes` at once, without their count.
    package mutating func combine(all bytes: [UInt8]) { bytes.withUnsafeBytes { combine(bytes: $0) } }

    /// Feeds the UTF-8 of `text` at once, without its count.
    package mutating func combine(utf8Of text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
