#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension OutputFile {
    /// The absolute path of an output at `path`, without symlinks as far as it exists.
    ///
    /// - Throws: `StreamError.cannotCreate` for symlinks without a target.
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

    /// The target of `path`, existing or not: a symlink is followed, never replaced.
    static func resolved(_ named: String) throws(StreamError) -> String {
        var path = named
        for _ in 0..<maximumLinks {
            if let found = canonical(path) { return found }
            guard let target = try target(ofLink: path) else { return path }
            path = target.hasPrefix("/") ? target : "\(FilePath.folder(of: path))/\(target)"
        }
        throw .cannotCreate(path: named, code: ELOOP)
    }

    /// The target of the symlink at `path`; nil if it is none.
    private static func target(ofLink path: String) throws(StreamError) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // A name that is not valid UTF-8, once repaired, would name another file.
        guard let target = String(validating: bytes.prefix(count), as: UTF8.self) else {
            throw .cannotCreate(path: path, code: EILSEQ)
        }
        return target
    }

    /// The path of what is there, without symlinks.
    private static func canonical(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// As many symlinks as Linux follows.
    private static let maximumLinks = 40
}
