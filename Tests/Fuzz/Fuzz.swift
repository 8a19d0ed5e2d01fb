import Foundation

/// libFuzzer's initialisation callback. It selects the target by name, because one binary contains all targets.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> CInt {
    guard Target.chosen != nil else {
        let names = Target.all.map(\.name).joined(separator: " ")
        FileHandle.standardError.write(Data("SMIME_FUZZ_TARGET must be one of: \(names)\n".utf8))
        exit(64)
    }
    return 0
}

/// libFuzzer's callback for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Target.chosen?.run(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

/// A part of the program that processes untrusted bytes.
struct Target: Sendable {
    let name: String
    /// Processes any bytes. Errors are expected; ending the process is a finding.
    let run: @Sendable ([UInt8]) -> Void

    #if SHORT
    static let all = [headers, from, structure, nestings, cms, pkcs12, message, smtp, milter]
    #else
    static let all = [headers, from, structure, nestings, cms, pkcs12, message, smtp, milter, policy]
    #endif

    /// The target named in the environment.
    static let chosen = all.first { $0.name == ProcessInfo.processInfo.environment["SMIME_FUZZ_TARGET"] }
}

/// Reports a violated property as a finding, by crashing.
func require(_ condition: Bool, _ property: String) {
    guard !condition else { return }
    FileHandle.standardError.write(Data("property broken: \(property)\n".utf8))
    abort()
}
