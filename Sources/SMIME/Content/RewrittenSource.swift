package import ByteStreams

/// A source whose beginning is replaced.
package struct RewrittenSource: ByteSource {
    private let head: MemorySource
    private let base: any ByteSource
    private let start: Int

    package var count: Int { head.count + base.count - start }

    package init(_ head: [UInt8], _ base: any ByteSource, after start: Int) {
        self.head = MemorySource(head)
        self.base = base
        self.start = start
    }

    package func read(into buffer: inout MutableSpan<UInt8>, at offset: Int) throws(StreamError) -> Int {
        offset < head.count
            ? try head.read(into: &buffer, at: offset) : try base.read(into: &buffer, at: offset - head.count + start)
    }

    package func checkUnchanged() throws(StreamError) { try base.checkUnchanged() }
}
