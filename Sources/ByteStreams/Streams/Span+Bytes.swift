#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Span<UInt8> {
    /// The offset of the first `byte` at or after `start`; nil if there is none. The search is memchr(3).
    package func firstOffset(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start < count else { return nil }
        precondition(start >= 0)
        return withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            return memchr(base + start, CInt(byte), bytes.count - start).map { UnsafeRawPointer($0) - base }
        }
    }

    /// The offset of the first `word`, which must not be empty, at or after `start`; nil if there is none.
    package func firstOffset(of word: [UInt8], from start: Int = 0) -> Int? {
        guard let first = word.first else { return nil }
        var position = start
        while let found = firstOffset(of: first, from: position) {
            if has(word, at: found) { return found }
            position = found + 1
        }
        return nil
    }

    /// The first byte; nil if there are no bytes.
    @inlinable
    package var first: UInt8? { isEmpty ? nil : self[0] }

    /// The last byte; nil if there are no bytes.
    @inlinable
    package var last: UInt8? { isEmpty ? nil : self[count - 1] }

    /// Whether the bytes at `index` are `word`.
    @inlinable
    package func has(_ word: [UInt8], at index: Int = 0) -> Bool {
        guard word.count <= count - index else { return false }
        for offset in word.indices where self[index + offset] != word[offset] { return false }
        return true
    }

    /// Whether `condition` is true for every byte.
    @inlinable
    package func allSatisfy(_ condition: (UInt8) -> Bool) -> Bool {
        for index in indices where !condition(self[index]) { return false }
        return true
    }

    /// Whether any byte is above 127.
    package var has8Bit: Bool {
        withUnsafeBytes { bytes in
            let words = bytes.count / 8
            var seen: UInt64 = 0
            for word in 0..<words { seen |= bytes.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self) }
            for byte in bytes[(8 * words)...] { seen |= UInt64(byte) }
            return seen & 0x8080_8080_8080_8080 != 0
        }
    }

    /// The eight bytes at `offset` as a little-endian integer.
    @inlinable
    package func word(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset + 8 <= count)
        return withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    }
}

// `Array.span` requires macOS 26, because arrays of objects may be bridged. `Array<UInt8>` is never bridged and is always
// contiguous, so these properties work on older systems.
extension Array<UInt8> {
    /// The bytes as a span.
    @inlinable
    package var octets: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let bytes = withUnsafeBufferPointer { $0 }
            return _overrideLifetime(Span(_unsafeElements: bytes), borrowing: self)
        }
    }

    /// The bytes as a mutable span.
    @inlinable
    package var mutableOctets: MutableSpan<UInt8> {
        @_lifetime(&self)
        mutating get {
            let bytes = withUnsafeMutableBufferPointer { $0 }
            return _overrideLifetime(MutableSpan(_unsafeElements: bytes), mutating: &self)
        }
    }
}

extension ArraySlice<UInt8> {
    /// The bytes as a span.
    @inlinable
    package var octets: Span<UInt8> {
        @_lifetime(borrow self)
        get { span }
    }
}

extension RawSpan {
    /// The bytes of the raw span as a span of `UInt8`.
    @inlinable
    package var octets: Span<UInt8> {
        @_lifetime(copy self)
        get { Span(_bytes: self) }
    }
}

extension MutableSpan<UInt8> {
    /// The bytes as a span for reading.
    @inlinable
    package var octets: Span<UInt8> {
        @_lifetime(borrow self)
        get { span }
    }

    /// The bytes of `range` as a mutable span.
    @inlinable
    @_lifetime(&self)
    package mutating func piece(_ range: Range<Int>) -> MutableSpan<UInt8> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        let bytes = withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[range]) }
        return _overrideLifetime(MutableSpan(_unsafeBytes: bytes), mutating: &self)
    }

    /// Copies `bytes` to `index` and returns their number.
    @inlinable
    @discardableResult
    package mutating func copy(_ bytes: Span<UInt8>, at index: Int = 0) -> Int {
        precondition(index >= 0 && bytes.count <= count - index)
        bytes.withUnsafeBytes { source in
            withUnsafeMutableBytes {
                UnsafeMutableRawBufferPointer(rebasing: $0[index...]).copyMemory(from: source)
            }
        }
        return bytes.count
    }
}

extension Array<UInt8> {
    /// A copy of `bytes`.
    package init(_ bytes: Span<UInt8>) { self = bytes.withUnsafeBufferPointer { Array($0) } }

    /// Appends a copy of `bytes`.
    package mutating func append(contentsOf bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}

extension Hasher {
    /// Hashes all of `bytes`, without their number.
    package mutating func combine(all bytes: [UInt8]) { bytes.withUnsafeBytes { combine(bytes: $0) } }

    /// Hashes the UTF-8 of `text`, without its length.
    package mutating func combine(utf8Of text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension FixedWidthInteger {
    /// The bytes in big-endian order.
    package var bigEndianBytes: [UInt8] {
        stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}

extension UInt8 {
    package static let carriageReturn = UInt8(ascii: "\r")
    package static let lineFeed = UInt8(ascii: "\n")

    /// Whether this is a space or a tab (RFC 5322 WSP).
    package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
