package import CMSSyntax
package import PKIX

extension Inspection {
    /// The outline of every CMS object, the outermost first.
    package var outlines: [CMSOutline] {
        switch subject {
        case .certificates, .pkcs12: []
        case .cms(let layer): layer.outlines
        case .message(let part): part.outlines
        }
    }

    /// The certificates in the file, and the certificates in its CMS objects.
    package var certificates: [Certificate] {
        guard case .certificates(let items) = subject else { return outlines.flatMap(\.certificates) }
        return items.compactMap { if case .certificate(let certificate) = $0 { certificate } else { nil } }
    }
}

extension Inspection.Part {
    fileprivate var outlines: [CMSOutline] { (layer?.outlines ?? []) + parts.flatMap(\.outlines) }
}

extension Inspection.Layer {
    fileprivate var outlines: [CMSOutline] {
        switch content {
        case .part(let part): [outline] + part.outlines
        case .layer(let layer): [outline] + layer.outlines
        case nil: [outline]
        }
    }
}
