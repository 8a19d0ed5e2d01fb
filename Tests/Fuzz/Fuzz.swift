import Foundation

/// What libFuzzer calls before anything else: the target is chosen here, by name, for one binary holds them all.
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

/// What libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Target.chosen?.run(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

/// A part of the program that takes bytes from strangers.
struct Target: Sendable {
    let name: String
    /// Takes any bytes; an error is a good answer, anything that ends the process is a finding.
    let run: @Sendable ([UInt8]) -> Void

    #if SHORT
    static let all = [headers, from, structure, nestings, cms, pkcs12, message, smtp, milter]
    #else
    static let all = [headers, from, structure, nestings, cms, pkcs12, message, smtp, milter, policy]
    #endif

    /// The target that the environment names.
    static let chosen = all.first { $0.name == ProcessInfo.processInfo.environment["SMIME_FUZZ_TARGET"] }
}

/// Says that a property does not hold, which is a finding like a crash.
func require(_ condition: Bool, _ property: String) {
    guard !condition else { return }
    FileHandle.standardError.write(Data("property broken: \(property)\n".utf8))
    abort()
}
