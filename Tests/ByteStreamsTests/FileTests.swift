import ByteStreams
import Foundation
import TestSupport
import Testing

/// Reading, writing and spooling files.
@Suite struct FileTests {
    @Test(arguments: [0, 1, Spool.memoryLimit - 1, Spool.memoryLimit, Spool.memoryLimit + 1, 3 * Spool.memoryLimit])
    func `a spool returns the bytes written to it, from memory or from its file`(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
        for size in [1000, 100_000, max(count, 1)] {
            let spool = Spool()
            for start in stride(from: 0, to: count, by: size) {
                try spool.write(Array(bytes[start..<min(count, start + size)]))
            }
            let source = try spool.finish()
            #expect(source.count == count)
            #expect(try source.bytes(in: 0..<count) == bytes)
            #expect(try source.bytes(in: count / 2..<count) == Array(bytes[(count / 2)...]))
            try source.checkUnchanged()
        }
    }

    @Test(arguments: [(0, false), (99, false), (100, true)])
    func `a spool stays in memory up to its limit`(_ limit: Int, _ isInMemory: Bool) throws {
        let bytes = [UInt8](repeating: 7, count: 100)
        let source = try Spool.source(memoryLimit: limit) { try $0.write(bytes) }
        #expect((source is MemorySource) == isInMemory)
        // A spool on disk passes on its own file, rewound to the first byte; content in memory is written to a file first.
        let file = try SpooledFile(of: source)
        _ = try source.bytes(in: 0..<50)
        #expect(try file.rewound().bytes(in: 0..<100) == bytes)
        var read = [UInt8](repeating: 0, count: 200)
        let count = Foundation.read(file.descriptor, &read, read.count)
        #expect(count == 100 && Array(read[..<100]) == bytes)
    }

    @Test func `a named file is copied before another program reads it`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/mail"
        try Data("a message".utf8).write(to: URL(filePath: path))
        let file = try SpooledFile(of: FileSource(path: path))
        try Data("another".utf8).write(to: URL(filePath: path))
        #expect(try file.rewound().bytes(in: 0..<9) == Array("a message".utf8))
    }

    @Test func `without a commit there is no file, and nothing beside it`() throws {
        let folder = try TemporaryFolder()
        do {
            let file = try OutputFile(path: "\(folder.path)/out", isPrivate: true)
            try file.write("half of it")
            #expect(folder.text("out") == nil)
        }
        #expect(folder.names == [])
    }

    @Test func `an uncommitted file has no name that a crash could leave behind`() throws {
        let folder = try TemporaryFolder()
        let file = try OutputFile(path: "\(folder.path)/out", isPrivate: true)
        try file.write([UInt8](repeating: 65, count: 1 << 20))
        #expect(folder.names == [])
        try file.commit()
        #expect(folder.names == ["out"])
    }

    @Test(arguments: [true, false])
    func `a commit replaces the existing file`(isPrivate: Bool) throws {
        let folder = try TemporaryFolder()
        try Data("old".utf8).write(to: URL(filePath: "\(folder.path)/out"))
        let file = try OutputFile(path: "\(folder.path)/out", isPrivate: isPrivate)
        try file.write("new")
        #expect(folder.text("out") == "old")
        try file.commit()
        #expect(folder.text("out") == "new")
        #expect(folder.names == ["out"])
        let mode = try #require(try folder.mode("out"))
        #expect(isPrivate ? mode == 0o600 : mode & 0o600 == 0o600)
    }

    @Test func `writing to a symbolic link keeps the link and replaces its target`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: "\(folder.path)/far", withIntermediateDirectories: true)
        try Data("old".utf8).write(to: URL(filePath: "\(folder.path)/far/target"))
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/link",
            withDestinationPath: "\(folder.path)/far/target"
        )
        let file = try OutputFile(path: "\(folder.path)/link", isPrivate: false)
        try file.write("new")
        try file.commit()
        #expect(folder.text("far/target") == "new")
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder.path)/link").hasSuffix("far/target")
        )
    }

    @Test func `a committed file accepts no more bytes`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/out"
        let file = try OutputFile(path: path, isPrivate: false)
        try file.write("whole")
        try file.commit()
        #expect(throws: StreamError.alreadyCommitted(path: path)) { try file.write(" and more") }
        #expect(throws: StreamError.alreadyCommitted(path: path)) {
            try file.write([UInt8](repeating: 65, count: 2 * Window.size))
        }
        #expect(throws: StreamError.alreadyCommitted(path: path)) { try file.commit() }
        #expect(folder.text("out") == "whole")
        #expect(folder.names == ["out"])
        let device = try OutputFile(path: "/dev/null", isPrivate: false)
        try device.commit()
        #expect(throws: StreamError.alreadyCommitted(path: "/dev/null")) { try device.write("more") }
    }

    @Test func `a full disk is an error at the latest when committing`() throws {
        let file = try OutputFile(path: "/dev/full", isPrivate: false)
        #expect(throws: StreamError.writeFailed(code: ENOSPC)) {
            try file.write("does not fit")
            try file.commit()
        }
        let large = try OutputFile(path: "/dev/full", isPrivate: false)
        #expect(throws: StreamError.writeFailed(code: ENOSPC)) {
            try large.write([UInt8](repeating: 0, count: 2 * Window.size))
        }
    }

    @Test func `a missing folder is an error that names the path`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/none/out"
        #expect(throws: StreamError.cannotCreate(path: path, code: ENOENT)) {
            try OutputFile(path: path, isPrivate: false)
        }
    }

    @Test func `a file that changes while it is read is an error`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/file"
        try Data(repeating: 1, count: 3 * Window.size).write(to: URL(filePath: path))
        let source = try FileSource(path: path)
        try source.checkUnchanged()
        let reader = source.reader()
        let window = Window(size: 10)
        #expect(try window.fill(from: reader) == 10)
        #expect(truncate(path, 5) == 0)
        #expect(throws: StreamError.changedWhileReading) { try reader.copy(to: CountingSink()) }
        #expect(throws: StreamError.changedWhileReading) { try source.checkUnchanged() }
        #expect(throws: StreamError.changedWhileReading) { try source.bytes(in: 0..<6) }
    }

    @Test func `a file source accepts only regular files`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: StreamError.cannotOpen(path: folder.path, code: EISDIR)) { try FileSource(path: folder.path) }
        #expect(throws: StreamError.notRegular(path: "/dev/null")) { try FileSource(path: "/dev/null") }
        #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
        #expect(throws: StreamError.notRegular(path: "\(folder.path)/pipe")) {
            try FileSource(path: "\(folder.path)/pipe")
        }
        #expect(throws: StreamError.cannotOpen(path: "\(folder.path)/no", code: ENOENT)) {
            try FileSource(path: "\(folder.path)/no")
        }
    }

    @Test(arguments: [0, 1, Spool.memoryLimit, 3_000_000], [false, true])
    func `of a device that never ends, only one byte more than the limit is read`(limit: Int, mayBeSecret: Bool) throws
    {
        let source = try Input.open(path: "/dev/zero", mayBeSecret: mayBeSecret) { head in
            #expect(head.count == Spool.memoryLimit)
            return limit
        }
        #expect(source.count == max(limit, Spool.memoryLimit) + 1)
    }

    @Test(arguments: [0, 1, 9, 10, 11, 300_000])
    func `a stream without its first bytes starts after them`(count: Int) throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 5) }
        for stream in [MemorySource(bytes).stream(), MemorySource(bytes).stream().inPieces(of: 7)] {
            let rest = try stream.dropFirst(count).makeReader().readAll(limit: .max, orThrow: CancellationError())
            #expect(rest == Array(bytes.dropFirst(count)))
        }
    }

    @Test func `reading stops with an error beyond the limit`() {
        let reader = MemorySource([1, 2, 3]).reader()
        #expect(throws: CancellationError.self) { try reader.readAll(limit: 2, orThrow: CancellationError()) }
    }
}

extension TemporaryFolder {
    fileprivate var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
    fileprivate func text(_ name: String) -> String? { try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }
    fileprivate func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.posixPermissions] as? Int
    }
}
