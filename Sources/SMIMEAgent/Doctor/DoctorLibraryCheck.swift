import CMSSyntax
import Foundation
import InternetMessage
import LibCrypto
import PKIX

/// Checks libcrypto and the other libraries, the system's trust anchors, and the clock.
struct DoctorLibraryCheck: DoctorCheck {
    var findings: [DoctorFinding] = []

    mutating func run() {
        add("libcrypto", .ok, text: Libcrypto.version)
        for fault in LibcryptoFault.known(in: Libcrypto.versionNumber) {
            // Some distributions repair a fault without a new version number, which this check cannot find out.
            add(
                "libcrypto-fault",
                .warning,
                text:
                    "\(fault.identifier): \(fault.text), unless your distribution patched its \(Libcrypto.versionNumber)",
                remedies: [.advice("install the security updates of libcrypto (Debian: libssl3 or libssl3t64)")],
                urgency: .never
            )
        }
        if IDNLibrary.shared != nil {
            add("libidn2", .ok, text: "international domain names are understood")
        } else {
            add(
                "libidn2",
                .error,
                text: "\(IDNLibrary.name) cannot be loaded: mail of international domains cannot be processed",
                remedies: [.advice("install libidn2-0")]
            )
        }
        for probe in LibcryptoProbe.all {
            switch probe.run() {
            case .passed(let text): add("probe-\(probe.code)", .ok, text: text)
            case .failed(let text):
                add(
                    "probe-\(probe.code)",
                    .error,
                    text: text,
                    remedies: [.advice("install another libcrypto (Debian: libssl3 or libssl3t64)")]
                )
            case .untried(let why):
                add("probe-\(probe.code)", .warning, text: "cannot be tried: \(why)", urgency: .never)
            }
        }
        if !Libcrypto.hasLegacyProvider {
            add(
                "libcrypto-legacy",
                .warning,
                text: "no legacy provider, so old PKCS#12 files (RC2-40) cannot be read",
                remedies: [.advice("install the package that has ossl-modules/legacy.so")],
                urgency: .never
            )
        }
        let system = SystemAnchors()
        if system.isReadable {
            add("system-anchors", .ok, text: system.folder)
        } else {
            add(
                "system-anchors",
                .warning,
                text: "\(system.folder): cannot be read",
                remedies: [.addAnchors],
                urgency: .never
            )
        }
    }

    /// Reports a clock that shows a time before this program was written: such a clock has not been set.
    mutating func checkClock(_ time: Date) {
        let written = Date(timeIntervalSince1970: 1_767_225_600)
        if time < written {
            add("clock", .error, text: "the clock says \(time.day)", remedies: [.advice("set the clock")])
        } else {
            add("clock", .ok, text: time.timestamp)
        }
    }
}
