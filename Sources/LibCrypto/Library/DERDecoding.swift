extension [UInt8] {
    /// Decodes these bytes with one of libcrypto's `d2i` functions.
    ///
    /// - Parameter d2i: receives a pointer to the bytes, which this function may advance, and the number of bytes.
    package func decoded(
        by d2i: (_ start: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ count: Int) -> OpaquePointer?
    ) -> OpaquePointer? {
        withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i(&start, bytes.count)
        }
    }
}
