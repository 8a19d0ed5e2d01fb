import ByteStreams

/// Content that can be written to a sink, to a file, or to memory.
package protocol WritableContent {
    func write(to sink: any ByteSink) throws
}

extension WritableContent {
    func writeAll(to sink: (RawSpan) throws -> Void) throws(SMIMEError) {
        try SMIMEError.catching {
            try withoutActuallyEscaping(sink) { sink in
                let sink = ClosureSink { bytes in
                    do { try sink(bytes.bytes) } catch { throw SMIMEError(thrownByCaller: error) }
                }
                try write(to: sink)
            }
        }
    }

    func writeAll(toFile path: String) throws(SMIMEError) {
        try SMIMEError.catching {
            let output = try OutputFile(path: path, isPrivate: true)
            try write(to: output)
            try output.commit()
        }
    }

    func allBytes() throws(SMIMEError) -> [UInt8] {
        try SMIMEError.catching {
            let sink = MemorySink()
            try write(to: sink)
            return sink.bytes
        }
    }
}
