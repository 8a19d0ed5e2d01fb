// swift-tools-version: 6.2
import PackageDescription

// Apart from the package itself, because everything in it, dependencies included, is built for libFuzzer.
// scripts/fuzz builds and runs it.
//
// SMIME_FUZZ_SHORT leaves out `policy`, and with it the store and GRDB, which take half of the time to build.
let isShort = Context.environment["SMIME_FUZZ_SHORT"] != nil
let modules =
    ["CMSSyntax", "LibCrypto", "InternetMessage", "PKIX", "SMIME", "ByteStreams"] + (isShort ? [] : ["SMIMEStore", "SMIMEGateway"])

let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "smime", path: "..")],
    targets: [
        .executableTarget(
            name: "Fuzz",
            dependencies: modules.map {
                .product(name: $0, package: "smime")
            },
            // libFuzzer brings the main function.
            swiftSettings: [.unsafeFlags(["-parse-as-library"])] + (isShort ? [.define("SHORT")] : [])
        )
    ],
    swiftLanguageModes: [.v6]
)
