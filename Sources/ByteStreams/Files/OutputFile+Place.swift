#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension OutputFile {
    /// The absolute path of an output file at `path`. Symlinks are resolved in the part of the path that exists.
    ///
    /// - Throws: `StreamError.cannotCreate` for a symlink without a target.
    package static func place(of path: String) throws(StreamError) -> String {
        if let found = canonical(path) { return found }
        var folder = try resolved(path)
        var missing = ""
        while true {
            if let base = canonical(folder) {
                return missing.isEmpty ? base : (base == "/" ? "" : base) + missing
            }
            let above = FilePath.folder(of: folder)
            guard above != folder else { return folder + missing }
            let name = folder.split(separator: "/").last ?? ""
            missing = "/\(name)\(missing)"
            folder = above
        }
    }

    /// The path of the file that `named` refers to, whether it exists or not. A symlink is followed and never replaced.
    static func resolved(_ named: String) throws(StreamError) -> String {
        var path = named
        for _ in 0..<maximumLinks {
            if let found = canonical(path) { return found }
            guard let target = try target(ofLink: path) else { return path }
            path = target.hasPrefix("/") ? target : "\(FilePath.folder(of: path))/\(target)"
        }
        throw .cannotCreate(path: named, code: ELOOP)
    }

    /// The target of the symlink at `path`; nil if `path` is not a symlink.
    private static func target(ofLink path: String) throws(StreamError) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // A name that is not valid UTF-8 is rejected: repairing it would give the name of another file.
        guard let target = String(validating: bytes.prefix(count), as: UTF8.self) else {
            throw .cannotCreate(path: path, code: EILSEQ)
        }
        return target
    }

    /// The path of an existing file, without symlinks.
    private static func canonical(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// The maximum number of symlinks to follow, the same as in Linux.
    private static let maximumLinks = 40
}
