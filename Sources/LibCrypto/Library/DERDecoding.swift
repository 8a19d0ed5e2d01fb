extension [UInt8] {
    /// Lends the bytes to one of libcrypto's `d2i` functions.
    ///
    /// - Parameter d2i: gets a pointer to the bytes, which it may move, and their count.
    func decoded(
        by d2i: (_ start: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ count: Int) -> OpaquePointer?
    ) -> OpaquePointer? {
        withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i(&start, bytes.count)
        }
    }
}
