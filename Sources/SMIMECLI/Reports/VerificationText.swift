import Foundation
import InternetMessage
import PKIX
import SMIME

extension VerificationReport {
    /// The report in words: the verdict, each signer with the five axes, and every problem with its code.
    func text(file: String) -> String {
        var lines = ["\(file): \(status.rawValue)\(coverage == .part ? ", a part of the message only" : "")"]
        lines.append("  summary     \(summary.rawValue)")
        for layer in layers {
            lines.append("  layer       \(text(of: layer))")
            // An error stands with the signers whose integrity it is about.
            lines += layer.problems.filter { $0.level == .warning }.map { "  \($0.line)" }
        }
        if let headers, isHeaderKnown { lines += headers.lines }
        for (index, layer) in layers.enumerated() {
            let place = layers.count > 1 ? place(of: layer, at: index) : nil
            for signer in layer.signers { lines += signer.lines(place: place) }
        }
        lines += problems.map(\.line)
        return lines.map(\.escapedForDisplay).joined(separator: "\n") + "\n"
    }

    /// A layer in words: its kind, its signers, and what the signature covers.
    func text(of layer: Layer) -> String {
        guard layer.kind == .signed else { return "\(layer.kind.rawValue) with \(layer.algorithm)" }
        let names = layer.signers.map(\.name)
        let who = names.isEmpty ? "nobody" : names.joined(separator: ", ")
        return "signed by \(who)\(side(of: layer).map { ", \($0)" } ?? "")"
    }

    /// On which side of the encryption a layer is; nil where that is no question.
    func side(of layer: Layer) -> String? {
        if layer.isInsideEncryption { return "inside the encryption" }
        let isEncrypted = layers.contains { $0.kind.isEncryption && !$0.isPart }
        return isEncrypted && !layer.isPart ? "outside the encryption" : nil
    }

    /// Which layer a signature is, and whether it counts.
    private func place(of layer: Layer, at index: Int) -> String {
        let words = [
            "layer \(index + 1) of \(layers.count)", side(of: layer), layer.isPart ? "a part of the message" : nil,
            layer.isDecisive ? nil : "the verdict does not depend on it",
        ]
        return words.compactMap(\.self).joined(separator: ", ")
    }
}

extension HeaderReport {
    /// The protected fields, with differing and additional outer ones.
    fileprivate var lines: [String] {
        let lists = [("signed", signed), ("encrypted", hidden)].filter { !$1.isEmpty }
        return lists.map { "  header      \($0): \($1.listedForDisplay)" }
            + differing.map { Self.line($0, "\(values[$0] ?? ""); outside: \(outside[$0] ?? "nothing")") }
            + added.filter(ProtectedHeader.isShown).map { Self.line($0, "outside only: \(outside[$0] ?? "")") }
    }

    private static func line(_ name: String, _ value: String) -> String {
        let shown = value.replacing("\n", with: ", ")
        return "  \(name.padding(toLength: max(11, name.count), withPad: " ", startingAt: 0)) \(shown)"
    }
}

extension VerificationReport.Signer {
    fileprivate func lines(place: String?) -> [String] {
        var lines = ["  signer      \(certificate.map { "\($0.subject)" } ?? "unknown")"]
        if let place { lines.append("  signs       \(place)") }
        if let certificate {
            lines.append("  addresses   \(certificate.addresses.joined(separator: ", "))")
            lines.append("  certificate \(certificate.fingerprint)")
        }
        if let signingTime { lines.append("  signed at   \(signingTime.timestamp)") }
        lines.append("  signature   \(signature) with \(digest)")
        for (name, axis) in axes {
            let isUnknown = name == Self.revocationName && isRevocationUnknown
            let verdict = axis.ok.map { $0 ? isUnknown ? "unknown" : "ok" : "FAILED" } ?? "not checked"
            lines.append("  \(name.padding(toLength: 11, withPad: " ", startingAt: 0)) \(verdict)")
            lines += axis.problems.map { "  \($0.line)" }
        }
        return lines
    }

    private static let revocationName = "revocation"

    /// The five axes with their names.
    var axes: [(name: String, axis: VerificationReport.Axis)] {
        [
            ("integrity", integrity), ("chain", chain), ("identity", identity), (Self.revocationName, revocation),
            ("time", time),
        ]
    }
}

extension Problem {
    fileprivate var line: String { "  \(level.rawValue): \(text) (\(code))" }
}
